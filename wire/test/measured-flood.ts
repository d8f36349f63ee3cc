/**
 * Floods a listener of this process with pipelined requests, and prints the most requests that it handles between two turns of
 * the event loop, and the most bytes of memory that it adds. In a process of its own, because the memory is that of a process.
 */
import { answerOf, listenWith } from './echo-server.ts'
import { until } from './until.ts'

const CONNECTIONS = 8
const FLOOD_MS = 2_000
const WARM_UP_REQUESTS = 2_000
const REQUESTS = 10_000

export interface FloodFigures {
  readonly connections: number
  readonly mostRequests: number
  readonly mostBytes: number
}

let answered = 0
const listener = listenWith(({ path }) => {
  if (path === '/flood') answered++
  return answerOf('{"code":"unauthorized","message":"the API key is missing","status":401}', 401)
})
const client = [
  process.execPath,
  `${import.meta.dir}/flood-client.ts`,
  String(listener.port),
  String(CONNECTIONS),
]
const flood = Bun.spawn(client)
await until(() => answered >= WARM_UP_REQUESTS)
const rssBefore = process.memoryUsage.rss()
const start = performance.now()
let mostRequests = 0
let mostBytes = 0
while (answered < REQUESTS || performance.now() - start < FLOOD_MS) {
  await (await fetch(`http://127.0.0.1:${listener.port}/`)).text()
  const answeredBefore = answered
  await new Promise(setImmediate)
  mostRequests = Math.max(mostRequests, answered - answeredBefore)
  mostBytes = Math.max(mostBytes, process.memoryUsage.rss() - rssBefore)
}
flood.kill()
await flood.exited
await until(() => listener.load().connections <= 1)
await listener.stop(0)
console.log(JSON.stringify({ connections: CONNECTIONS, mostRequests, mostBytes } satisfies FloodFigures))
