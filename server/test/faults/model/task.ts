import fc from 'fast-check'
import {
  type TortureOptions,
  type TortureSummary,
  type TortureTask,
  untilOver,
} from '../../../scripts/torture-task.ts'
import { ModelCounts, runSteps, type StoreKind } from './run.ts'
import { type Step, stepsOf } from './steps.ts'

/** Longer than in `npm test`: some faults only appear late. */
const MAX_STEPS = 250
const RUNS_AT_ONCE = 4
/** In a full run. */
const LEAST_REQUESTS: Readonly<Record<StoreKind, number>> = { sqlite: 50_000, postgres: 20_000 }
/** Shrinking a failure helps, but somebody waits for it. */
const LONGEST_SHRINKING_MS = 5 * 60_000

const promise = (where: string) =>
  `random sequences of requests, restarts, clock moves and commands get the responses of a simple model, ${where}`

export const modelTask: TortureTask = {
  name: 'model',
  promise: promise('on SQLite'),
  share: 2,
  run: (options) => runModel(options, 'sqlite'),
}

export const modelPostgresTask: TortureTask = {
  name: 'model-postgres',
  promise: promise('by two instances on PostgreSQL whose clocks are an hour apart'),
  share: 2,
  run: (options) => runModel(options, 'postgres'),
}

async function runModel(options: TortureOptions, store: StoreKind): Promise<TortureSummary> {
  const counts = new ModelCounts()
  const isOver = untilOver(options, LEAST_REQUESTS[store])
  const property = fc.asyncProperty(stepsOf(MAX_STEPS), (steps) => runSteps(steps, store, counts))
  const violations: string[] = []
  let { seed } = options
  for (let runs = 0; !isOver(counts.requests) && violations.length === 0; runs += RUNS_AT_ONCE) {
    const details = await fc.check(property, {
      seed,
      numRuns: RUNS_AT_ONCE,
      interruptAfterTimeLimit: LONGEST_SHRINKING_MS,
    })
    if (details.failed) violations.push(failureOf(details))
    if (runs % 20 === 0) options.say(`${counts.requests} requests compared`)
    seed = (seed + 1) | 0
  }
  return {
    figures: [
      ['answers compared with the model', String(counts.requests)],
      ['clock moves', String(counts.clockMoves)],
      ['restarts', String(counts.restarts)],
      ['commands', String(counts.commands)],
      ['events', String(counts.events)],
      ['crossings of thresholds', String(counts.crossings)],
    ],
    violations,
  }
}

function failureOf({
  errorInstance,
  counterexamplePath,
  seed,
  counterexample,
}: fc.RunDetails<[Step[]]>): string {
  const message = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
  return `${message} (seed ${seed}, path ${counterexamplePath}, steps ${fc.stringify(counterexample)})`
}
