import { workerData } from 'node:worker_threads'
import { PetSearch } from '../search.ts'
import { answerRequests } from '../workers.ts'
import { DIALECT } from './dialect.ts'
import { ReadConnection } from './read-connection.ts'

export interface SqliteReaderData {
  readonly path: string
  /** Lets statements copy the write-ahead log into the database. */
  readonly copiesLog?: boolean
  /** See `OpenOptions.readerStartSignal`. */
  readonly startSignal?: Int32Array<SharedArrayBuffer> | undefined
}

// The store starts this worker with this data.
const { path, copiesLog = false, startSignal } = workerData as SqliteReaderData
if (startSignal !== undefined) Atomics.wait(startSignal, 0, 0)
const searchConnection = new ReadConnection(path)
const statementConnection = new ReadConnection(path, { copiesLog })
answerRequests({
  search: new PetSearch({
    dialect: DIALECT,
    clock: { nowSql: (processTime) => processTime },
    snapshot: () => searchConnection.snapshot(),
  }),
  rows: ({ text, values }) => statementConnection.rows(text, ...values),
  close: async () => {
    searchConnection.close()
    statementConnection.close()
  },
})
