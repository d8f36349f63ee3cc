import { petIdOf, type StockEvent } from '../stock/stock-event.ts'
import type { DeliveryFailure } from './webhook.ts'
import type { Message } from './webhook-store.ts'

export interface PendingDelivery {
  readonly event: StockEvent
  readonly cursorBefore: string
  readonly message: Message
  failure: DeliveryFailure | undefined
}

/** The deliveries that were read from the log and are not finished. Deliveries of one pet are sent one after the other. */
export class DeliveryWindow {
  /** In the order of the log. */
  readonly #all = new Set<PendingDelivery>()
  readonly #byPet = new Map<bigint | undefined, PendingDelivery[]>()
  readonly #ready: PendingDelivery[] = []

  get size(): number {
    return this.#all.size
  }

  /** The oldest unfinished delivery. */
  get head(): PendingDelivery | undefined {
    return this.#all.values().next().value
  }

  add(delivery: PendingDelivery): void {
    this.#all.add(delivery)
    const pet = petIdOf(delivery.event)
    const queue = this.#byPet.get(pet)
    if (queue !== undefined) {
      queue.push(delivery)
      return
    }
    this.#byPet.set(pet, [delivery])
    this.#ready.push(delivery)
  }

  takeReady(): PendingDelivery | undefined {
    return this.#ready.shift()
  }

  /** For a delivery that was taken and not sent. */
  putBack(delivery: PendingDelivery): void {
    this.#ready.unshift(delivery)
  }

  finish(delivery: PendingDelivery): void {
    this.#all.delete(delivery)
    const pet = petIdOf(delivery.event)
    const queue = this.#byPet.get(pet)
    queue?.shift()
    const next = queue?.[0]
    if (next === undefined) this.#byPet.delete(pet)
    else this.#ready.push(next)
  }

  /** Removes all deliveries of the pet of this delivery, which was taken. */
  removePetOf({ event }: PendingDelivery): void {
    const pet = petIdOf(event)
    for (const delivery of this.#byPet.get(pet) ?? []) this.#all.delete(delivery)
    this.#byPet.delete(pet)
  }
}
