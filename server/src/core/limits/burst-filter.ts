/** How and when a request reached this process. */
export interface Arrival {
  /** By `performance.now()`. */
  readonly receivedAt: number
  /** The connection that carried the request; `undefined` behind a proxy, whose connections carry requests of many clients. */
  readonly connection?: object | undefined
}

/** Requests that were sent together arrive within this time of each other, even over slow networks. */
export const BURST_MS = 1_000

/** The 429s that were sent to a key in one window. */
interface Warning {
  /** When the window ends. Identifies the window. */
  readonly resetAt: number
  /** When the first 429 was sent. */
  readonly firstSentAt: number
  /** When the first 429 was sent over each connection. */
  readonly sentAt: WeakMap<object, number>
}

/**
 * Tells a client that continues after a 429 from one parallel burst. Only the former leads to a ban. A client has seen a 429
 * if its own connection carried one before this request arrived, or if the first 429 was sent BURST_MS before. Each process
 * knows only the 429s that it sent. See docs/decisions/2026-11-17-bans-and-bursts.md.
 */
export class BurstFilter {
  readonly #burstMs: number
  readonly #warnings = new Map<string, Warning>()

  constructor(burstMs: number) {
    this.#burstMs = burstMs
  }

  /**
   * Whether the client had seen a 429 of the current window when it sent this request. `lastUsedAt` is the time of the key's
   * previous request on any instance.
   */
  wasWarned(keyId: string, { receivedAt, connection }: Arrival, now: number, lastUsedAt: number): boolean {
    const warning = this.#warnings.get(keyId)
    // If there was a 429, another process sent it, to the previous request or to an earlier one.
    if (warning === undefined || now >= warning.resetAt) return now - lastUsedAt >= this.#burstMs
    const sentHereAt = connection === undefined ? undefined : warning.sentAt.get(connection)
    if (sentHereAt !== undefined && receivedAt > sentHereAt) return true
    return receivedAt > warning.firstSentAt && receivedAt - warning.firstSentAt >= this.#burstMs
  }

  /** Records that this request is answered with a 429. */
  noteRefusal(keyId: string, { connection }: Arrival, resetAt: number): void {
    const now = performance.now()
    let warning = this.#warnings.get(keyId)
    if (warning?.resetAt !== resetAt) {
      warning = { resetAt, firstSentAt: now, sentAt: new WeakMap() }
      this.#warnings.set(keyId, warning)
    }
    if (connection !== undefined && !warning.sentAt.has(connection)) warning.sentAt.set(connection, now)
  }
}
