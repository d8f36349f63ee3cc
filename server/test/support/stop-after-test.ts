/** Several tests run at once if they are marked as concurrent. */
let runningTests = 0
/** How to stop what they have started. */
let stops: (() => unknown)[] = []

/**
 * Stops something at the end of the test that has started it, even if the test fails. `stop` does nothing if the test has
 * stopped it. What `beforeAll` or a script starts is stopped by its owner.
 */
export function stopAfterTest(stop: () => unknown): void {
  if (runningTests > 0) stops.push(stop)
}

export function testBegins(): void {
  runningTests++
}

/** Runs after the `afterEach` of the test file. */
export async function testEnds(): Promise<void> {
  if (--runningTests > 0) return
  const latestFirst = stops.reverse()
  stops = []
  for (const stop of latestFirst) await stop()
}
