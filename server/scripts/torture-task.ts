/** What the runner gives to a long form. */
export interface TortureOptions {
  /** Everything random comes from it, so that a run can be made again. */
  readonly seed: number
  /** This task's part of the time. */
  readonly minutes: number
  /** Whether the least counts have to be reached, even if that takes longer than the minutes. */
  readonly isFull: boolean
  /** Tells the one who watches how far it is. */
  readonly say: (progress: string) => void
}

export interface TortureSummary {
  /** What was done and measured, in words for a table: `['kills', '200']`. */
  readonly figures: readonly (readonly [what: string, value: string])[]
  /** What should not have happened, a line each: none where all is well. */
  readonly violations: readonly string[]
}

/** One long form: what `npm run torture` runs in turn. */
export interface TortureTask {
  /** How `--only` names it. */
  readonly name: string
  /** What it shows if it finds no violation, in a sentence. */
  readonly promise: string
  /** How much of the time it gets, in relation to the others. */
  readonly share: number
  run(options: TortureOptions): Promise<TortureSummary>
}

/** Whether to stop, asked with how much has been done: once the time is up and, in a full run, the least is reached. */
export function untilOver(options: TortureOptions, least: number): (done: number) => boolean {
  const deadline = performance.now() + options.minutes * 60_000
  return (done) => performance.now() >= deadline && (done >= least || !options.isFull)
}

/** Random numbers from 0 up to 1, the same ones for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
