import type { Case } from './cases.ts'
import type { Fairness } from './fairness.ts'
import type { InstanceRow } from './instance-rows.ts'
import type { Sample } from './measure.ts'
import { type Spread, spreadOf, sum } from './statistics.ts'
import type { Section, Target, TargetKind } from './target.ts'

export interface TargetResult {
  readonly target: string
  readonly label: string
  readonly kind: TargetKind
  readonly requestsPerSecond: Spread
  readonly p50Ms: Spread
  readonly p99Ms: Spread
  readonly requests: number
  /** Answers with a status of 400 or more: all of them in a flood, none elsewhere. */
  readonly refused: number
  readonly note?: string
  /** Where answers were counted second by second. */
  readonly bySecond?: Seconds
  /** Where all callers wanted the same. */
  readonly fairness?: Fairness
}

/** Of all rounds of a case together. */
export interface Seconds {
  /** Answers in the median second. */
  readonly median: number
  /** The second with the fewest, as a part of the median. */
  readonly slowestToMedian: number
}

export interface CaseResult {
  readonly name: string
  readonly title: string
  readonly section: Section
  readonly pets: number
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
  /** How many pets a request changes, where that is several. */
  readonly petsEach?: number
  readonly results: readonly TargetResult[]
}

/** Several instances on one PostgreSQL. */
export interface InstanceResult extends CaseResult {
  readonly row: InstanceRow
  /** What a commit of one connection takes while nothing else goes on: the delay included. */
  readonly commitMs: number
}

export function isInstanceResult(result: CaseResult): result is InstanceResult {
  return result.section === 'instances'
}

/** Requests a second of two stores, measured in turns. */
export interface Comparison {
  readonly first: Spread
  readonly second: Spread
  /** The second's to the first's, of all rounds together: what a large store does now and then, such as a checkpoint, falls into some of them. */
  readonly ratio: number
  /** Of each round. */
  readonly ratios: Spread
}

export interface GrowthResult {
  /** Whole lists of 20 pets; and lists of 10,000, answered with 304. */
  readonly lists: Comparison
  readonly smallPets: number
  readonly largePets: number
  /** With so few pets; and with so many. */
  readonly updates: Comparison
  /** From the start of the process to the first answered update. */
  readonly startSeconds: number
  readonly memoryAfterStartMb: number
  readonly memoryAfterUpdatesMb: number
  readonly listWhileUpdating: {
    readonly readers: number
    /** Of the reader that got the fewest. */
    readonly entries: number
    readonly listMb: number
    readonly seconds: number
    readonly updates: number
    /** The highest resident memory meanwhile. */
    readonly memoryPeakMb: number
  }
}

/** Ours on a disk whose flushes take long. */
export interface SlowDiskResult {
  readonly flushMs: number
  readonly readers: number
  readonly writers: number
  /** Lists a second without updates; and beside them. */
  readonly listsAlone: Spread
  readonly lists: Spread
  readonly listP50Ms: Spread
  readonly listP99Ms: Spread
  /** Updates a second beside the lists. */
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

export function summarise(
  target: Target,
  samples: readonly Sample[],
  note: string | undefined,
): TargetResult {
  return {
    target: target.name,
    label: target.label,
    kind: target.kind,
    requestsPerSecond: spreadOf(samples.map((sample) => sample.requestsPerSecond)),
    p50Ms: spreadOf(samples.map((sample) => sample.p50Ms)),
    p99Ms: spreadOf(samples.map((sample) => sample.p99Ms)),
    requests: sum(samples.map((sample) => sample.requests)),
    refused: sum(samples.map((sample) => sample.refused)),
    ...(note === undefined ? {} : { note }),
  }
}

export function secondsOf(counts: readonly number[]): Seconds {
  const { median, min } = spreadOf(counts)
  return { median, slowestToMedian: min / median }
}

export function caseResult(loadCase: Case, rounds: number, results: readonly TargetResult[]): CaseResult {
  const { name, title, section, pets, connections, seconds, load } = loadCase
  const petsEach = load.kind === 'adjustments' ? { petsEach: load.changes } : {}
  return { name, title, section, pets, connections, seconds, rounds, ...petsEach, results }
}
