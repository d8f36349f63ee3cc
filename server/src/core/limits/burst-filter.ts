/** How and when a request reached this process. */
export interface Arrival {
  /** By `performance.now()`. */
  readonly receivedAt: number
  /** The connection it came over; `undefined` if a proxy puts the requests of several clients into one. */
  readonly connection?: object | undefined
}

/** Requests that were sent together arrive within this time, even over slow networks. */
export const BURST_MS = 1_000

interface Warning {
  /** When the window ends, by the clock of the limits: names the window. */
  readonly resetAt: number
  /** When the first 429 of the window was sent. */
  readonly sentAt: number
  readonly sentTo: WeakMap<object, number>
}

/**
 * Tells requests of one parallel burst from requests of a client that goes on after a 429: only the latter lead to a ban. A
 * client knows of a 429 if its request came over a connection that had already carried one, or came later than a burst
 * lasts. Each process remembers the 429s that it sent itself.
 */
export class BurstFilter {
  readonly #burstMs: number
  readonly #warnings = new Map<string, Warning>()

  constructor(burstMs: number) {
    this.#burstMs = burstMs
  }

  /** Whether the sender knew of a 429 of this window. `lastUsedAt` is when the key was last used on any instance. */
  wasWarned(keyId: string, arrival: Arrival, now: number, lastUsedAt: number): boolean {
    const warning = this.#warnings.get(keyId)
    // The 429 was sent by another process, no later than the key was last used.
    if (warning === undefined || now >= warning.resetAt) return now - lastUsedAt >= this.#burstMs
    const { receivedAt, connection } = arrival
    const ownSentAt = connection === undefined ? undefined : warning.sentTo.get(connection)
    return (
      (ownSentAt !== undefined && receivedAt > ownSentAt) ||
      (receivedAt > warning.sentAt && receivedAt - warning.sentAt >= this.#burstMs)
    )
  }

  /** A 429 is being sent to this request. */
  noteRefusal(keyId: string, { connection }: Arrival, resetAt: number): void {
    const sentAt = performance.now()
    let warning = this.#warnings.get(keyId)
    if (warning?.resetAt !== resetAt) {
      warning = { resetAt, sentAt, sentTo: new WeakMap() }
      this.#warnings.set(keyId, warning)
    }
    if (connection !== undefined && !warning.sentTo.has(connection)) warning.sentTo.set(connection, sentAt)
  }
}
