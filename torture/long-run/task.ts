import type { TortureOptions, TortureSummary, TortureTask } from '../../server/scripts/torture-task.ts'
import { runLong } from './long-run.ts'
import { checksOf } from './results.ts'

const LEAST_MINUTES = 1
/** In a full run. */
const FULL_MINUTES = 20

export const longRunTask: TortureTask = {
  name: 'long-run',
  promise: 'after minutes of mixed load, speed, memory and open handles are the same as after the warm-up',
  share: 4,
  run: (options) => run(options, false),
}

export const longRunPostgresTask: TortureTask = {
  name: 'long-run-postgres',
  promise: `${longRunTask.promise}, on PostgreSQL`,
  share: 4,
  run: (options) => run(options, true),
}

async function run(
  { minutes, isFull, seed, say }: TortureOptions,
  onPostgres: boolean,
): Promise<TortureSummary> {
  const results = await runLong({
    minutes: Math.max(minutes, isFull ? FULL_MINUTES : LEAST_MINUTES),
    seed,
    onPostgres,
    say,
  })
  const checks = checksOf(results)
  return {
    figures: checks.map(({ what, atBeginning, atEnd }) => [what, `${atBeginning}, at the end ${atEnd}`]),
    violations: [
      ...checks.flatMap(({ what, atBeginning, atEnd, wanted, isMet }) =>
        isMet ? [] : [`${what}: ${atBeginning}, at the end ${atEnd}; wanted: ${wanted}`],
      ),
      ...Object.entries(results.surprises).map(([what, times]) => `${what}, ${times} times`),
    ],
  }
}
