/** One that has failed for so long is turned off. */
export const GIVE_UP_AFTER_MS = 3 * 24 * 60 * 60 * 1_000
/** So that receivers that failed together are not asked together: by how much a pause may be shorter or longer. */
const JITTER = 0.1

/** How long to wait after so many attempts; `random` is between 0 and 1. The last pause comes again and again. */
export function pauseAfter(attempts: number, pausesMs: readonly number[], random: number): number {
  const pause = pausesMs[Math.min(attempts, pausesMs.length) - 1]
  if (pause === undefined) throw new Error(`there is no pause after attempt ${attempts}`)
  return Math.round(pause * (1 + JITTER * (2 * random - 1)))
}
