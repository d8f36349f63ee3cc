import type { StockEvent } from '../stock/stock-event.ts'
import type { Message } from './sender.ts'
import { type DeliveryFailure, petOf } from './webhook.ts'

/** Something that is to be delivered. */
export class Pending {
  readonly event: StockEvent
  /** The place right before it. */
  readonly before: string
  readonly message: Message
  attempts = 0
  failingSince: number | undefined
  retryAt = 0

  constructor(event: StockEvent, before: string, message: Message) {
    this.event = event
    this.before = before
    this.message = message
  }

  get failure(): DeliveryFailure | undefined {
    const { failingSince: since, attempts, retryAt } = this
    return since === undefined ? undefined : { since, attempts, retryAt }
  }
}

/** What was read from the log and is not delivered yet. Of each pet, one follows when the one before it was delivered. */
export class DeliveryWindow {
  /** In the order of the log. */
  readonly #all = new Set<Pending>()
  readonly #byPet = new Map<bigint | undefined, Pending[]>()
  /** Nothing keeps these from being sent. */
  readonly #ready: Pending[] = []
  /** These were tried, and wait until they are tried again. */
  readonly #failed = new Set<Pending>()

  get size(): number {
    return this.#all.size
  }

  /** The first that is not delivered: everything before it is. */
  get head(): Pending | undefined {
    return this.#all.values().next().value
  }

  add(pending: Pending): void {
    this.#all.add(pending)
    const pet = petOf(pending.event)
    const queue = this.#byPet.get(pet)
    if (queue !== undefined) {
      queue.push(pending)
      return
    }
    this.#byPet.set(pet, [pending])
    if (pending.attempts === 0) this.#ready.push(pending)
    else this.#failed.add(pending)
  }

  /** The next to be sent. */
  take(): Pending | undefined {
    return this.#ready.shift()
  }

  /** Likewise, where nothing but the first is worth trying. */
  takeHead(): Pending | undefined {
    const { head } = this
    const index = head === undefined ? -1 : this.#ready.indexOf(head)
    return index === -1 ? undefined : this.#ready.splice(index, 1)[0]
  }

  delivered(pending: Pending): void {
    this.#all.delete(pending)
    const pet = petOf(pending.event)
    const queue = this.#byPet.get(pet)
    queue?.shift()
    const next = queue?.[0]
    if (next === undefined) this.#byPet.delete(pet)
    else this.#ready.push(next)
  }

  failed(pending: Pending): void {
    this.#failed.add(pending)
  }

  /** Those that have waited for long enough may be sent again; all of them where no time is given. */
  retry(now = Number.POSITIVE_INFINITY): void {
    for (const pending of this.#failed) {
      if (pending.retryAt > now) continue
      this.#failed.delete(pending)
      this.#ready.push(pending)
    }
  }
}
