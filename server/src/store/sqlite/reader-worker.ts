import { workerData } from 'node:worker_threads'
import { PetSearch } from '../search.ts'
import { answerRequests } from '../workers.ts'
import { DIALECT } from './dialect.ts'
import { ReadConnection } from './read-connection.ts'

export interface SqliteReaderStart {
  readonly path: string
  /** See `OpenOptions.readerGate`. */
  readonly gate?: Int32Array<SharedArrayBuffer>
}

// The store starts this worker with this data.
const { path, gate } = workerData as SqliteReaderStart
if (gate !== undefined) Atomics.wait(gate, 0, 0)
const searches = new ReadConnection(path)
const statements = new ReadConnection(path)
answerRequests({
  search: new PetSearch({
    dialect: DIALECT,
    clock: { sql: (given) => given },
    snapshot: () => searches.snapshot(),
  }),
  rows: ({ text, values }) => statements.rows(text, ...values),
  close: async () => {
    searches.close()
    statements.close()
  },
})
