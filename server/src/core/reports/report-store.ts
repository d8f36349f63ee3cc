import type { TimeRange } from './days.ts'

/** What the sums of a report are divided by; `none` sums all facts together. */
export type Grouping = 'none' | 'pet' | 'category' | 'key'

/** The facts of one group with one reason. Units that come in are positive, units that go out negative. */
export interface MovementSum {
  /** The id of the pet, category or key; null for `none`, and for pets without a category, because they were removed. */
  readonly group: string | null
  /** The name of the pet, category or key; null if it no longer exists. */
  readonly name: string | null
  /** `counted` for counts. A correction has the reason of the adjustment that it reverses. */
  readonly reason: string
  /** Units that movements state; 0 for counts. */
  readonly units: number
  /** By how much the quantities changed otherwise: by counts, and by counts that had included a movement already. */
  readonly counted: number
  /** The part of `counted` by which counts increased quantities, less what corrections took back of it. */
  readonly countedUp: number
}

/** Sums the facts in the log. The time of a fact is when it happened, not when it was recorded. */
export interface ReportStore {
  /**
   * Sums the facts of a time range. Reads the log in steps, between which other reads can run, and passes the sums of each
   * step to `onSums`, which may throw to stop.
   */
  sumMovements(
    range: TimeRange,
    grouping: Grouping,
    onSums: (sums: readonly MovementSum[]) => void,
  ): Promise<void>
  /** The time from which the log is complete; `undefined` if nothing was pruned. May be later than now. */
  historyStart(): Promise<number | undefined>
}
