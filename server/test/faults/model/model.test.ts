import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { ModelCounts, runSteps } from './run.ts'
import { stepsOf } from './steps.ts'

setDefaultTimeout(120_000)

/**
 * `MODEL_SEED=7 bun test server/test/faults/model/model.test.ts` runs other cases; a failure prints the seed and the
 * path.
 */
const SEED = Number(Bun.env.MODEL_SEED ?? 20_261_121)
const PATH = Bun.env.MODEL_PATH
const RUNS = Number(Bun.env.MODEL_RUNS ?? 8)
/** A failure is shrunk until shortly before the timeout of the test. */
const LONGEST_MS = 110_000
const EVERY_ANSWER = [
  ...['200', '304', '400 invalid_request', '401 unauthorized', '403 forbidden', '404 not_found'],
  ...['405 method_not_allowed', '410 gone', '412 precondition_failed', '413 payload_too_large'],
  ...['409 insufficient_stock', '422 idempotency_key_reused', '429 rate_limit_exceeded', '429 key_banned'],
  ...['200 replayed', '404 not_found replayed', '409 insufficient_stock replayed'],
  ...['412 precondition_failed replayed', '201', '201 replayed', '204', '204 replayed', '409 order_closed'],
  ...['DELETE /pets 409 in_use', 'DELETE /categories 409 in_use', 'PATCH /pets 200', 'PATCH /categories 200'],
  ...['POST /pets 409 already_exists', 'POST /categories 409 already_exists', 'PATCH /pets 404 not_found'],
]

const again = {
  seed: SEED,
  interruptAfterTimeLimit: LONGEST_MS,
  ...(PATH === undefined ? {} : { path: PATH }),
}

function tell(store: string, counts: ModelCounts): void {
  const { requests, clockMoves, restarts, commands, events, crossings } = counts
  const done = `${requests} requests, ${clockMoves} clock moves, ${restarts} restarts, ${commands} commands, ${events} events, ${crossings} crossings of thresholds`
  console.log(`model on ${store}: seed ${SEED}, ${done}`)
}

test('for any steps, the service responds like the model', async () => {
  const counts = new ModelCounts()
  const property = fc.asyncProperty(stepsOf(260), (steps) => runSteps(steps, 'sqlite', counts))
  await fc.assert(property, { ...again, numRuns: RUNS })
  tell('SQLite', counts)
  if (Bun.env.MODEL_SEED !== undefined) return
  // Without these the test would prove nothing.
  const { clockMoves, restarts, commands, events, crossings } = counts
  expect(Math.min(clockMoves, restarts, commands, events, crossings)).toBeGreaterThan(0)
  expect([...counts.answers.keys()]).toEqual(expect.arrayContaining(EVERY_ANSWER))
})

test('so do two instances on PostgreSQL whose clocks are an hour apart', async () => {
  const counts = new ModelCounts()
  const property = fc.asyncProperty(stepsOf(120), (steps) => runSteps(steps, 'postgres', counts))
  await fc.assert(property, { ...again, numRuns: Math.ceil(RUNS / 2) })
  tell('PostgreSQL', counts)
  expect(counts.requests).toBeGreaterThan(0)
})
