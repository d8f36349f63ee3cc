import { type Case, hasFairness, storesOf, takesPart } from './cases.ts'
import { FAIRNESS_SECONDS } from './fairness.ts'
import type { Target } from './target.ts'

/** How long a run takes its time for. */
export interface Pace {
  readonly mode: 'full' | 'quick'
  /** Before the first case of a store: Node and Bun take some seconds on one core to get up to speed. */
  readonly firstWarmUpMs: number
  readonly warmUpMs: number
  /** The pets of the large store in the growth case. */
  readonly largestStore: number
  cases(all: readonly Case[]): readonly Case[]
}

export const FULL: Pace = {
  mode: 'full',
  firstWarmUpMs: 5_500,
  warmUpMs: 1_000,
  largestStore: 1_000_000,
  cases: (all) => all,
}

/** Enough to see that all works and where it stands; the figures of one short round are no proof. */
export const QUICK: Pace = {
  mode: 'quick',
  firstWarmUpMs: 1_000,
  warmUpMs: 500,
  largestStore: 100_000,
  cases: (all) =>
    all
      .filter(({ onlyInFull }) => onlyInFull === undefined)
      .map((loadCase) => ({ ...loadCase, rounds: 1, seconds: Math.ceil(loadCase.seconds / 2) })),
}

/** What starting one target, with its data, takes about. */
export const START_SECONDS = 0.5

/** The same for every target of the case. */
export function warmUpMsOf(loadCase: Case, isFirstOfStore: boolean, pace: Pace): number {
  const usual = isFirstOfStore ? pace.firstWarmUpMs : pace.warmUpMs
  return pace.mode === 'full' ? (loadCase.warmUpMs ?? usual) : usual
}

export function plannedSeconds(cases: readonly Case[], targets: readonly Target[], pace: Pace): number {
  let seconds = 0
  for (const store of storesOf(cases)) {
    const started = targets.filter((target) => store.some((loadCase) => takesPart(target, loadCase)))
    seconds += started.length * START_SECONDS
    for (const [index, loadCase] of store.entries()) {
      const entrants = started.filter((target) => takesPart(target, loadCase)).length
      const warmUpMs = warmUpMsOf(loadCase, index === 0, pace)
      const fairness = hasFairness(loadCase) ? FAIRNESS_SECONDS : 0
      seconds += entrants * (warmUpMs / 1000 + loadCase.rounds * loadCase.seconds + fairness)
    }
  }
  return seconds
}
