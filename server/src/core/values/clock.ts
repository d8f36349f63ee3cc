/** Milliseconds since the Unix epoch. Injected, so that tests can set the time. */
export type Clock = () => number

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
