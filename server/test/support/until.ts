/** Leaves processor time to others during long waits. */
const MAX_PAUSE_MS = 16

/** Polls the condition; the timeout of the test is the limit. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let pauseMs = 1; !(await isSo()); pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS))
    await Bun.sleep(pauseMs)
}
