import { workerData } from 'node:worker_threads'
import { answerReads, type SqliteReaderData } from './read-connection.ts'

// The store starts this worker with this data.
const data = workerData as SqliteReaderData
if (data.startSignal !== undefined) Atomics.wait(data.startSignal, 0, 0)
answerReads(data)
