/** What all connections of a listener may send together before the event loop handles other events. */
const BYTES_PER_TURN = 512 * 1024
/** What a response costs besides its bytes, because its request was parsed and handled. */
const BYTES_PER_RESPONSE = 4 * 1024
/** Head and body are sent in one write up to this size. Figures: docs/decisions/2026-11-15-http-of-our-own.md */
const MAX_SLICE_BYTES = 256 * 1024
/** The same while other connections wait. */
const MAX_SLICE_BYTES_WHEN_SHARED = 64 * 1024

/**
 * Shares the sending between the connections of a listener. Once a turn has sent BYTES_PER_TURN, connections wait in line.
 * Each of them sends one slice of its response, then goes to the end of the line.
 */
export class SendTurns {
  #bytesLeft = BYTES_PER_TURN
  readonly #line: (() => void)[] = []
  #isTurnScheduled = false

  /** Whether a connection may send without waiting in line. */
  get isFree(): boolean {
    return this.#bytesLeft > 0 && this.#line.length === 0
  }

  /** The most bytes of a body that a connection may send at once. */
  get sliceBytes(): number {
    return this.#line.length === 0 ? MAX_SLICE_BYTES : MAX_SLICE_BYTES_WHEN_SHARED
  }

  spend(sentBytes: number): void {
    this.#bytesLeft -= sentBytes
  }

  spendOnResponse(): void {
    this.#bytesLeft -= BYTES_PER_RESPONSE
  }

  /** Calls `send`, which must not throw, when all connections that wait already have sent a slice. */
  wait(send: () => void): void {
    this.#line.push(send)
    this.#scheduleTurn()
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return
    this.#isTurnScheduled = true
    setImmediate(this.#takeTurn)
  }

  readonly #takeTurn = (): void => {
    this.#isTurnScheduled = false
    this.#bytesLeft = BYTES_PER_TURN
    while (this.#bytesLeft > 0) {
      const send = this.#line.shift()
      if (send === undefined) return
      send()
    }
    if (this.#line.length > 0) this.#scheduleTurn()
  }
}
