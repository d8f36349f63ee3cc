import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TortureTask } from '../server/scripts/torture-task.ts'
import { checkFactOrder } from '../server/test/faults/facts/fact-order.ts'
import { memoryFolder } from '../server/test/support/memory-folder.ts'
import { createTestDatabase } from '../server/test/support/test-database.ts'

/** On each database. */
const SEQUENCES = 5_000

/** The long form of fact-order.test.ts. */
export const factOrderTask: TortureTask = {
  name: 'facts',
  promise:
    'Counts, movements and reversals give the same stock in any order of arrival, up to 30 days late, and no unit is reversed twice.',
  share: 1,
  run: async ({ seed, say }) => {
    const figures: (readonly [string, string])[] = []
    const violations: string[] = []
    for (const [name, onPostgres] of [
      ['SQLite', false],
      ['PostgreSQL', true],
    ] as const) {
      const folder = mkdtempSync(join(memoryFolder(), 'petstore-facts-'))
      const database = await createTestDatabase(folder, onPostgres)
      const outcome = await checkFactOrder(database.url, { seed, sequences: SEQUENCES })
      await database.drop()
      rmSync(folder, { recursive: true })
      say(`${outcome.sequences} sequences on ${name}`)
      figures.push(
        [`sequences on ${name}`, String(outcome.sequences)],
        [`recorded adjustments on ${name}`, String(outcome.recorded)],
        [`refused adjustments on ${name}`, String(outcome.refused)],
      )
      violations.push(...outcome.violations.map((violation) => `${name}: ${violation}`))
    }
    return { figures, violations }
  },
}
