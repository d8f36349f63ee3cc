/**
 * Sends requests to four instances on one PostgreSQL and checks that their answers are linearizable. Then crashes
 * PostgreSQL five times under load. Usage: `bun server/scripts/linearizability.ts [requests] [seed]`.
 */
import {
  crashViolations,
  driveInstances,
  driveThroughCrashes,
  driveViolations,
} from '../test/faults/linearizability/linearizability.ts'

const DEFAULT_REQUESTS = 50_000
const CRASHES = 5
const MAX_SHOWN = 20

const requestCount = Number(process.argv[2] ?? DEFAULT_REQUESTS)
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32)
console.log(`seed ${seed}`)
const outcome = await driveInstances(seed, (requests) => requests >= requestCount)
const { recorded, keyed } = outcome
console.log(
  `${recorded.requests} requests on 4 instances in ${outcome.seconds.toFixed(1)} s, answered ${JSON.stringify([...recorded.statuses])}`,
)
console.log(`concurrent requests with idempotency keys: ${JSON.stringify(keyed.counts)}`)
console.log(
  `${recorded.operations.length + keyed.operations.length} updates and reads of single pets: ${outcome.contradictions.length} contradictions; deadlocks: ${outcome.deadlocks}`,
)
const crashOutcome = await driveThroughCrashes(CRASHES)
const recoveries = crashOutcome.recoveriesMs.map((ms) => `${Math.round(ms)} ms`).join(', ')
console.log(
  `${CRASHES} crashes under a load of ${crashOutcome.requests} requests: ${crashOutcome.contradictions.length} contradictions, statuses ${crashOutcome.statuses}, refusals within ${Math.round(crashOutcome.longestRefusalMs)} ms, recovered after ${recoveries}`,
)
const violations = [...driveViolations(outcome), ...crashViolations(crashOutcome)]
for (const violation of violations.slice(0, MAX_SHOWN)) console.error(violation)
process.exit(violations.length === 0 ? 0 : 1)
