const TURNS = 10

/** Lets run what waits for the next turns of the event loop. Unlike a pause, it is as many turns on a busy machine. */
export async function someTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resume) => setImmediate(resume))
}
