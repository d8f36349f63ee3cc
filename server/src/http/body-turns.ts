/** Parsing a body of this size may take more than a millisecond. */
const LARGE_BODY_BYTES = 16 * 1024

/** Lets the event loop handle other events before each large body, so that many of them do not stall other requests. */
export class BodyTurns {
  #lastTurn: Promise<void> = Promise.resolve()

  async wait(bodyBytes: number): Promise<void> {
    if (bodyBytes < LARGE_BODY_BYTES) return
    this.#lastTurn = this.#lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
    await this.#lastTurn
  }
}
