import { type TortureOptions, type TortureTask, untilOver } from '../../../scripts/torture-task.ts'
import { killAgainAndAgain, killFigures } from '../kills/kills.ts'

const LEAST_CUTS = 100

export const powerLossTask: TortureTask = {
  name: 'power-loss',
  promise: 'After a power cut every acknowledged update and everything that a read returned still exists.',
  share: 2,
  run: async (options: TortureOptions) => {
    const isOver = untilOver(options, LEAST_CUTS)
    const report = await killAgainAndAgain({ seed: options.seed, isOver, say: options.say, losesPower: true })
    return {
      figures: [
        ...killFigures(report),
        ['restarts of the write-ahead log under load', String(report.restartedLogs)],
      ],
      violations: report.violations,
    }
  },
}
