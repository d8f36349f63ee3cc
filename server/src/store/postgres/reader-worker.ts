import { workerData } from 'node:worker_threads'
import { answerRequests } from '../reader-loop.ts'
import { PetSearch } from '../search.ts'
import { Connection } from './connection.ts'
import { DIALECT } from './dialect.ts'
import { findNewerTables } from './migrations.ts'
import type { PostgresSettings } from './options.ts'
import { searchSnapshot } from './reader.ts'
import { storeClock } from './store-clock.ts'

export interface PostgresReaderStart {
  readonly url: string
  readonly settings: Omit<PostgresSettings, 'clock'>
}

// The store starts this worker with such data and with no other.
const { url, settings } = workerData as PostgresReaderStart
const connection = new Connection(url, settings, findNewerTables)
let connected: Promise<void> | undefined

function connect(): Promise<void> {
  connected ??= connection.connect().catch((error: unknown) => {
    connected = undefined
    throw error
  })
  return connected
}

answerRequests({
  search: new PetSearch({
    dialect: DIALECT,
    clock: storeClock(),
    snapshot: async () => {
      await connect()
      return searchSnapshot(connection)
    },
  }),
  rows: ({ text, values }) => connection.rows(text, ...values),
  close: () => connection.close(),
})
