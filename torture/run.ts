/**
 * Tests the service under kills, faults and load for a given time:
 * `npm run torture -- [--minutes 60] [--seed 1] [--only sim,fuzz] [--count 1000] [--short]`.
 *
 * Each task reaches at least the counts that docs/reliability.md promises, even if that takes longer. With `--short` a
 * task stops when its time is up. `--count` replaces those counts. The exit code is 1 if there are violations.
 */
import { parseArgs } from 'node:util'

import type { TortureSummary, TortureTask } from '../server/scripts/torture-task.ts'
import { backupSimTask } from './backup-sim-task.ts'
import { backupTask } from './backup-task.ts'
import { basketDeadlocksTask, basketsTask } from './baskets-task.ts'
import { factOrderTask } from './fact-order-task.ts'
import { fuzzTask } from './fuzz-task.ts'
import { connectionsTask } from './hostile/connections-task.ts'
import { hostileTask } from './hostile/task.ts'
import { longRunPostgresTask, longRunTask } from './long-run/task.ts'
import { plantedFaultsTask } from './plant-faults.ts'
import { failoverTask } from './postgres/failover-task.ts'
import { overloadTask } from './postgres/overload-task.ts'
import { patroniTask } from './postgres/patroni-task.ts'
import { pgbouncerTask } from './postgres/pgbouncer-task.ts'
import { proxiesTask } from './proxies-task.ts'
import { searchesPostgresTask, searchesTask } from './searches/task.ts'
import { simTask } from './sim-task.ts'

const TASKS: readonly TortureTask[] = [
  simTask,
  factOrderTask,
  basketsTask,
  basketDeadlocksTask,
  backupSimTask,
  backupTask,
  failoverTask,
  patroniTask,
  pgbouncerTask,
  fuzzTask,
  hostileTask,
  connectionsTask,
  proxiesTask,
  overloadTask,
  searchesTask,
  searchesPostgresTask,
  longRunTask,
  longRunPostgresTask,
  plantedFaultsTask,
]
const DEFAULT_MINUTES = '60'
const MAX_SHOWN = 50

interface FinishedTask {
  readonly task: TortureTask
  readonly seconds: number
  readonly summary: TortureSummary
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: DEFAULT_MINUTES },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
    only: { type: 'string' },
    count: { type: 'string' },
    short: { type: 'boolean', default: false },
  },
})
const minutes = numberFrom('--minutes', values.minutes)
const seed = numberFrom('--seed', values.seed)
const count = values.count === undefined ? undefined : numberFrom('--count', values.count)
const tasks = tasksFrom(values.only)
const totalShare = tasks.reduce((sum, { share }) => sum + share, 0)

const onlyFlag = values.only === undefined ? '' : ` --only ${values.only}`
const countFlag = count === undefined ? '' : ` --count ${count}`
const shortFlag = values.short ? ' --short' : ''
console.log(
  `seed ${seed}; repeat with: npm run torture -- --minutes ${minutes} --seed ${seed}${onlyFlag}${countFlag}${shortFlag}`,
)
const finished: FinishedTask[] = []
for (const task of tasks) {
  console.log(`${clockTime()} ${task.name}: ${task.promise}`)
  finished.push(await runTask(task))
}
console.log(`\n${report(finished)}`)
const hasPassed = finished.every(({ summary }) => summary.violations.length === 0)
process.exit(hasPassed ? 0 : 1)

async function runTask(task: TortureTask): Promise<FinishedTask> {
  const began = performance.now()
  const say = (progress: string) => console.log(`${clockTime()} ${task.name}: ${progress}`)
  let summary: TortureSummary
  try {
    const options = { seed, minutes: (minutes * task.share) / totalShare, isFull: !values.short, count, say }
    summary = await task.run(options)
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    summary = { figures: [], violations: [`the task failed: ${text}`] }
  }
  const seconds = (performance.now() - began) / 1_000
  say(`${summary.violations.length} violations in ${Math.round(seconds)} s`)
  for (const violation of summary.violations.slice(0, MAX_SHOWN)) console.error(`  ${violation}`)
  return { task, seconds, summary }
}

/** A table for docs/reliability.md. */
function report(all: readonly FinishedTask[]): string {
  const rows = all.map(({ task, seconds, summary }) => {
    const figures = summary.figures.map(([what, value]) => `${what}: ${value}`).join('; ')
    return `| \`${task.name}\` | ${Math.round(seconds)} s | ${figures} | ${summary.violations.length} |`
  })
  return ['| task | took | figures | violations |', '|---|---|---|---|', ...rows].join('\n')
}

function tasksFrom(only: string | undefined): readonly TortureTask[] {
  if (only === undefined) return TASKS
  return only.split(',').map((name) => {
    const task = TASKS.find((candidate) => candidate.name === name)
    if (task !== undefined) return task
    const names = TASKS.map((candidate) => candidate.name).join(', ')
    return exitWithError(`--only must be a comma-separated list of ${names}, got "${name}"`)
  })
}

function numberFrom(flag: string, text: string): number {
  const number = Number(text)
  return text !== '' && number >= 0
    ? number
    : exitWithError(`${flag} must be a number of 0 or more, got "${text}"`)
}

function exitWithError(message: string): never {
  console.error(`torture: ${message}`)
  process.exit(1)
}

function clockTime(): string {
  return new Date().toISOString().slice(11, 19)
}
