/**
 * Sends requests to four instances on one PostgreSQL and checks that their answers are linearizable:
 * `bun server/scripts/linearizability.ts [requests] [seed]`. Then crashes PostgreSQL five times under load.
 */
import {
  crashViolations,
  driveInstances,
  driveThroughCrashes,
  driveViolations,
} from '../test/faults/linearizability.ts'

const DEFAULT_REQUESTS = 50_000
const CRASHES = 5
const MAX_SHOWN = 20

const wanted = Number(process.argv[2] ?? DEFAULT_REQUESTS)
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32)
console.log(`seed ${seed}`)
const driven = await driveInstances(seed, (requests) => requests >= wanted)
const { recorded, keyed } = driven
console.log(
  `${recorded.requests} requests on 4 instances in ${driven.seconds.toFixed(1)} s, answered ${JSON.stringify([...recorded.statuses])}`,
)
console.log(`concurrent requests with idempotency keys: ${JSON.stringify(keyed.counts)}`)
console.log(
  `${recorded.operations.length + keyed.operations.length} updates and reads of single pets: ${driven.contradictions.length} contradictions; deadlocks: ${driven.deadlocks}`,
)
const crashed = await driveThroughCrashes(CRASHES)
const recoveries = crashed.recoveriesMs.map((ms) => `${Math.round(ms)} ms`).join(', ')
console.log(
  `${CRASHES} crashes under a load of ${crashed.requests} requests: ${crashed.contradictions.length} contradictions, statuses ${crashed.statuses}, refusals within ${Math.round(crashed.longestRefusalMs)} ms, recovered after ${recoveries}`,
)
const violations = [...driveViolations(driven), ...crashViolations(crashed)]
for (const violation of violations.slice(0, MAX_SHOWN)) console.error(violation)
process.exit(violations.length === 0 ? 0 : 1)
