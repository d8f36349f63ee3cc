import type { TortureTask } from '../server/scripts/torture-task.ts'
import { createFixture } from '../server/test/sim/fixture.ts'
import { simulate } from '../server/test/sim/simulation.ts'

const CRASHES_PER_SEED = 10
const LEAST_CRASHES = 10_000
const TELL_EVERY = 100

export const simTask: TortureTask = {
  name: 'sim',
  promise: 'In a simulation with crashes and other faults, no answer, event or delivery contradicts the log.',
  share: 3,
  run: async ({ seed: firstSeed, minutes, isFull, say }) => {
    const fixture = await createFixture()
    const deadline = performance.now() + minutes * 60_000
    const violations: string[] = []
    const counts: Record<string, number> = {}
    let crashes = 0
    try {
      while (performance.now() < deadline || (isFull && crashes < LEAST_CRASHES)) {
        const seed = firstSeed + crashes / CRASHES_PER_SEED
        const report = simulate(fixture, seed, CRASHES_PER_SEED)
        crashes += CRASHES_PER_SEED
        for (const [name, count] of Object.entries(report.counts)) counts[name] = (counts[name] ?? 0) + count
        for (const violation of report.violations) {
          violations.push(`${violation}; repeat with SIM_SEED=${seed} bun test server/test/sim`)
        }
        if (crashes % (TELL_EVERY * CRASHES_PER_SEED) === 0) say(`${crashes} crashes`)
      }
    } finally {
      fixture.remove()
    }
    const figures = Object.entries(counts).map(([name, count]) => [name, String(count)] as const)
    return { figures: [['crashes', String(crashes)], ...figures], violations }
  },
}
