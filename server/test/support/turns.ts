const TURNS = 10

/** Waits for some turns of the event loop. Unlike a pause, the number of turns does not depend on the machine. */
export async function someTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resume) => setImmediate(resume))
}
