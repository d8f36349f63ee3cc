import type { Case } from './cases.ts'
import type { InstanceRow } from './instances.ts'
import type { Sample } from './measure.ts'
import type { Section, Target, TargetKind } from './target.ts'

/** The median of several rounds, with the lowest and the highest. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export interface TargetResult {
  readonly target: string
  readonly label: string
  readonly kind: TargetKind
  readonly requestsPerSecond: Spread
  readonly p50Ms: Spread
  readonly p99Ms: Spread
  readonly requests: number
  /** Responses with a status of 400 or above: all of them in the flood, none elsewhere. */
  readonly refused: number
  /** Only with several instances: responses in the median second, and the fewest in a second relative to it. */
  readonly bySecond?: { readonly median: number; readonly slowestToMedian: number }
}

export interface CaseResult {
  readonly name: string
  readonly title: string
  readonly section: Section
  readonly pets: number
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
  /** How many pets each adjustment changes. */
  readonly petsEach?: number
  readonly results: readonly TargetResult[]
}

/** Several instances on one PostgreSQL. */
export interface InstanceResult extends CaseResult {
  readonly row: InstanceRow
  /** The duration of a commit on an idle server, delay included. */
  readonly commitMs: number
}

export function isInstanceResult(result: CaseResult): result is InstanceResult {
  return result.section === 'instances'
}

/** Ours with a small store and with a large store. */
export interface GrowthResult {
  readonly smallPets: number
  readonly largePets: number
  /** Updates per second, measured in turns. */
  readonly updates: {
    readonly small: Spread
    readonly large: Spread
    /** Large relative to small, over all rounds: a checkpoint of a large store occurs in few of them. */
    readonly ratio: number
    readonly ratios: Spread
  }
  /** From the start of the process to the response to the first update. */
  readonly startSeconds: number
  readonly memoryAfterStartMb: number
  readonly memoryAfterUpdatesMb: number
}

/** Ours on a disk with slow flushes. */
export interface SlowDiskResult {
  readonly flushMs: number
  readonly readers: number
  readonly writers: number
  /** Lists per second without updates. */
  readonly listsAlone: Spread
  /** Lists per second during updates. */
  readonly lists: Spread
  readonly listP50Ms: Spread
  readonly listP99Ms: Spread
  /** Updates per second during lists. */
  readonly updates: Spread
}

export interface BenchResults {
  readonly mode: 'full' | 'quick'
  readonly environment: Readonly<Record<string, string>>
  readonly seconds: number
  readonly cases: readonly CaseResult[]
  readonly growth?: GrowthResult
  readonly slowDisk?: SlowDiskResult
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const at = (index: number) => sorted[index] ?? Number.NaN
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    min: at(0),
    max: at(sorted.length - 1),
  }
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

export function summarise(target: Target, samples: readonly Sample[]): TargetResult {
  return {
    target: target.name,
    label: target.label,
    kind: target.kind,
    requestsPerSecond: spreadOf(samples.map((sample) => sample.requestsPerSecond)),
    p50Ms: spreadOf(samples.map((sample) => sample.p50Ms)),
    p99Ms: spreadOf(samples.map((sample) => sample.p99Ms)),
    requests: sum(samples.map((sample) => sample.requests)),
    refused: sum(samples.map((sample) => sample.refused)),
  }
}

export function caseResult(loadCase: Case, results: readonly TargetResult[]): CaseResult {
  const { name, title, section, pets, connections, seconds, rounds, load } = loadCase
  const petsEach = load.kind === 'adjustments' ? { petsEach: load.changes } : {}
  return { name, title, section, pets, connections, seconds, rounds, ...petsEach, results }
}
