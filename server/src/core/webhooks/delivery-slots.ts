import { MAX_WEBHOOKS } from './webhook.ts'

/** Requests under way to one receiver. */
export const MAX_AT_ONCE = 16
/**
 * To all receivers of a process, beside the one that each of them may always have: together no more than Bun has under
 * way, so that nothing waits there behind receivers that hang, with its time running.
 */
const MAX_SHARED = 256 - MAX_WEBHOOKS

/** What all webhooks of a process have under way. */
export class DeliverySlots {
  #taken = 0

  /** Whether a webhook that has so many under way may have one more. */
  hasRoom(own: number): boolean {
    return own === 0 || (own < MAX_AT_ONCE && this.#taken < MAX_SHARED)
  }

  take(): void {
    this.#taken++
  }

  free(): void {
    this.#taken--
  }
}
