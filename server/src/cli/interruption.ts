/** The exit codes that shells expect of a program that a signal ended. */
const EXIT_CODES: Readonly<Partial<Record<NodeJS.Signals, number>>> = { SIGINT: 130, SIGTERM: 143 }

/**
 * Runs work that can be given up: Ctrl-C and SIGTERM abort the signal it gets, and once it has cleaned up, `said`
 * is what the user reads. Work that finishes in spite of a signal has finished.
 */
export async function interruptible(
  said: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController()
  let by: NodeJS.Signals | undefined
  const stop = (signal: NodeJS.Signals) => {
    // The second time somebody is in a hurry. What is not committed is lost with the process in any case.
    if (by !== undefined) process.exit(EXIT_CODES[signal])
    by = signal
    controller.abort()
  }
  for (const signal of Object.keys(EXIT_CODES)) process.on(signal, stop)
  try {
    await work(controller.signal)
  } catch (error) {
    if (by === undefined) throw error
    console.error(`petstore: stopped by ${by}; ${said}`)
    process.exitCode = EXIT_CODES[by]
  } finally {
    for (const signal of Object.keys(EXIT_CODES)) process.off(signal, stop)
  }
}
