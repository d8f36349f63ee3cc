/** The longest pause between two checks. */
const MAX_PAUSE_MS = 16

/** Waits until the condition is true, at most until the timeout of the test. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let pauseMs = 1; !(await condition()); pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS))
    await Bun.sleep(pauseMs)
}
