import { expect, setDefaultTimeout, test } from 'bun:test'
import { simulateBackup } from './backup-simulation.ts'

setDefaultTimeout(120_000)

/** `SIM_SEED=7 bun test server/test/sim/backup.test.ts` runs another seed. With 522, a log is gone after its first copy has failed. */
const SEEDS = Bun.env.SIM_SEED === undefined ? [1, 2, 3, 4, 522] : [Number(Bun.env.SIM_SEED)]
const CRASHES = 20

test.each(SEEDS)(
  'what the continuous backup has copied is restored after twenty crashes, and so is every moment; repeat with SIM_SEED=%i bun test server/test/sim/backup.test.ts',
  async (seed) => {
    const { violations, counts } = await simulateBackup(seed, CRASHES)
    expect(violations).toEqual([])
    // Without these, the test would prove little.
    const { commits, copies, failures, restores, lostDisks } = counts
    expect(Math.min(commits, copies, failures, restores)).toBeGreaterThan(10)
    expect(lostDisks).toBeGreaterThan(2)
  },
)

test('one seed gives one run', async () => {
  const [first, second] = [await simulateBackup(1, 3), await simulateBackup(1, 3)]
  expect(second).toEqual(first)
})
