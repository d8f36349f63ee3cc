/** The one clock that all who use a store share, in its statements. */
export interface StoreClock {
  /** The time in milliseconds, as SQL that is computed once in a statement; the parameter is what `given` gives. */
  readonly sql: (given: `$${number}`) => string
  /** The time itself where the database does not tell it, or tests have another one. */
  readonly given: () => number | null
}
