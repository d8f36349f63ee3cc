/** Leaves the machine to others during a long wait. */
const MAX_PAUSE_MS = 16

/** Checks repeatedly; the timeout of the test is the limit. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let pauseMs = 1; !(await isSo()); pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS))
    await Bun.sleep(pauseMs)
}
