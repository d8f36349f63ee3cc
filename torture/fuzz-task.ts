import { type TortureTask, untilOver } from '../server/scripts/torture-task.ts'
import { type FuzzOutcome, fuzz } from '../server/test/faults/fuzz/fuzz.ts'

/** The minimum of a full run, on both databases together. */
const LEAST_REQUESTS = 100_000

/** The long form of fuzz.test.ts. */
export const fuzzTask: TortureTask = {
  name: 'fuzz',
  promise:
    'Every request generated from the contract, valid or invalid, gets a response that the contract documents.',
  share: 2,
  run: async (options) => {
    const { seed, say } = options
    const half = { ...options, minutes: options.minutes / 2 }
    const outcomes: [string, FuzzOutcome][] = []
    for (const [database, onPostgres] of [
      ['SQLite', false],
      ['PostgreSQL', true],
    ] as const) {
      const isOver = untilOver(half, LEAST_REQUESTS / 2)
      let said = 0
      const outcome = await fuzz({
        seed,
        onPostgres,
        isOver: (requests) => {
          if (requests - said >= 20_000) {
            said = requests
            say(`${requests} requests on ${database}`)
          }
          return isOver(requests)
        },
      })
      outcomes.push([database, outcome])
    }
    return {
      figures: outcomes.flatMap(([database, { requests, statuses }]) => [
        [`fuzzed requests on ${database}`, String(requests)] as const,
        [`answers by status on ${database}`, JSON.stringify(statuses)] as const,
      ]),
      violations: outcomes.flatMap(([database, { violations }]) =>
        violations.map((violation) => `${database}: ${violation}`),
      ),
    }
  },
}
