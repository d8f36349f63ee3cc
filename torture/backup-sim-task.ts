import { type TortureTask, untilOver } from '../server/scripts/torture-task.ts'
import { simulateBackup } from '../server/test/sim/backup-simulation.ts'

const CRASHES_PER_SEED = 20
const LEAST_CRASHES = 5_000
const SAY_EVERY = 1_000

export const backupSimTask: TortureTask = {
  name: 'backup-sim',
  promise:
    'In a simulation with crashes and a failing disk, what the continuous backup has copied is restored.',
  share: 1,
  run: async (options) => {
    const isOver = untilOver(options, LEAST_CRASHES)
    const violations: string[] = []
    const counts: Record<string, number> = {}
    let crashes = 0
    while (!isOver(crashes)) {
      const seed = options.seed + crashes / CRASHES_PER_SEED
      const report = await simulateBackup(seed, CRASHES_PER_SEED)
      crashes += CRASHES_PER_SEED
      for (const [name, count] of Object.entries(report.counts)) counts[name] = (counts[name] ?? 0) + count
      for (const violation of report.violations) {
        violations.push(`${violation}; repeat with SIM_SEED=${seed} bun test server/test/sim/backup.test.ts`)
      }
      if (crashes % SAY_EVERY === 0) options.say(`${crashes} crashes`)
    }
    const figures = Object.entries(counts).map(([name, count]) => [name, String(count)] as const)
    return { figures: [['crashes', String(crashes)], ...figures], violations }
  },
}
