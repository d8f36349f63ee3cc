import { MAX_WEBHOOKS } from './webhook.ts'

/** Requests under way to one receiver. */
export const MAX_AT_ONCE = 16
/**
 * To all receivers of a process, beside the one that each of them may always have: together no more than Bun has under
 * way, so that nothing waits there behind receivers that hang, with its time running.
 */
const MAX_SHARED = 256 - MAX_WEBHOOKS

/** Begun between two looks at what else there is to do: callers of the service do not wait for longer than these take. */
const MAX_A_TURN = 16

/** What all webhooks of a process have under way. */
export class DeliverySlots {
  #taken = 0
  #begunThisTurn = 0
  /** Called with the next turn. */
  readonly #waiting = new Set<() => void>()

  /** Whether a webhook that has so many under way may begin one more; where it may with the next turn, `goOn` is called. */
  hasRoom(own: number, goOn: () => void): boolean {
    if (own > 0 && (own >= MAX_AT_ONCE || this.#taken >= MAX_SHARED)) return false
    if (this.#begunThisTurn < MAX_A_TURN) return true
    this.#waiting.add(goOn)
    return false
  }

  take(): void {
    if (this.#begunThisTurn === 0) setImmediate(this.#nextTurn)
    this.#begunThisTurn++
    this.#taken++
  }

  free(): void {
    this.#taken--
  }

  readonly #nextTurn = (): void => {
    this.#begunThisTurn = 0
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const goOn of waiting) goOn()
  }
}
