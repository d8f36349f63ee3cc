export interface TortureOptions {
  /** The seed of all random numbers, so that a run can be repeated. */
  readonly seed: number
  /** How long the task runs. */
  readonly minutes: number
  /** Whether the task continues until its minimum counts are reached, even if that takes longer. */
  readonly isFull: boolean
  /** Replaces the minimum count of the task. */
  readonly count?: number | undefined
  /** Prints the progress. */
  readonly say: (progress: string) => void
}

export interface TortureSummary {
  /** The results for the table: `['kills', '200']`. */
  readonly figures: readonly (readonly [what: string, value: string])[]
  /** One line for each violation of the promise. */
  readonly violations: readonly string[]
}

/** A task of `npm run torture`. */
export interface TortureTask {
  /** The name for `--only`. */
  readonly name: string
  /** A sentence that is true if there are no violations. */
  readonly promise: string
  /** The task's share of the time, relative to the other tasks. */
  readonly share: number
  run(options: TortureOptions): Promise<TortureSummary>
}

/** Returns a function that says whether a task can stop: its time is up and, in a full run, it has reached `minimum`. */
export function untilOver(options: TortureOptions, minimum: number): (done: number) => boolean {
  const deadline = performance.now() + options.minutes * 60_000
  return (done) => performance.now() >= deadline && (done >= (options.count ?? minimum) || !options.isFull)
}

/** Random numbers from 0 to 1 that are determined by the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
