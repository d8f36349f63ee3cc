/**
 * Drives two instances on one PostgreSQL at once and checks what they answered:
 * `bun server/scripts/linearizability.ts [requests]`, 50,000 by default. Then stops PostgreSQL five times under load.
 */

import { runOutages } from '../test/postgres/outages.ts'
import { contradictions } from '../test/postgres/register-check.ts'
import { PET_IDS, startInstances, stockUp } from '../test/postgres/shop.ts'
import { record } from '../test/postgres/workload.ts'
import { createDatabase } from '../test/support/postgres-databases.ts'
import { PostgresServer } from '../test/support/postgres-server.ts'

const wanted = Number(process.argv[2] ?? 50_000)
const OUTAGES = 5

const database = await createDatabase()
const key = await stockUp(database.url)
const instances = await startInstances(database.url, 2)
let value = 0
const began = performance.now()
const { operations, statuses } = await record(instances, {
  ...{ key, petIds: PET_IDS, workers: 64, nextValue: () => ++value },
  isOver: (requests) => requests >= wanted,
})
const seconds = (performance.now() - began) / 1_000
const found = contradictions(operations, new Map(PET_IDS.map((petId) => [petId, 0])))
const [row] = await database.run(
  'SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = current_database()',
)
for (const instance of instances) await instance.stop()
await database.drop()
console.log(
  `${wanted} requests on 2 instances in ${seconds.toFixed(1)} s, answered ${JSON.stringify([...statuses])}`,
)
console.log(
  `${operations.length} updates and looks at single pets: ${found.length} contradictions; deadlocks: ${row?.deadlocks}`,
)
for (const contradiction of found.slice(0, 20)) console.error(contradiction)

const server = await PostgresServer.start()
const report = await runOutages(server, OUTAGES)
await server.end()
const recoveries = report.recoveriesMs.map((ms) => `${Math.round(ms)} ms`).join(', ')
console.log(
  `${OUTAGES} crashes under load of ${report.requests} requests: ${report.contradictions.length} contradictions, statuses ${report.statuses}, refused within ${Math.round(report.longestRefusalMs)} ms, back after ${recoveries}`,
)
const isGood =
  found.length + report.contradictions.length === 0 &&
  row?.deadlocks === 0 &&
  report.statuses.every((status) => status === 200 || status === 503)
process.exit(isGood ? 0 : 1)
