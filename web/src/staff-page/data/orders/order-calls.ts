import type { Availability, NewOrder, Order, OrderState, PetstoreClient } from '@petstore/client'

export interface OrderQuery {
  /** Open and complete ones without it. */
  readonly state?: OrderState | undefined
  readonly petId?: bigint | undefined
  readonly pageSize: number
}

/** Every call about orders that the page makes. */
export class OrderCalls {
  readonly #client: PetstoreClient
  readonly #signal: AbortSignal

  constructor(client: PetstoreClient, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
  }

  /** By id, each page asked for when it is needed. */
  list({ state, petId, pageSize }: OrderQuery, signal: AbortSignal): AsyncIterable<Order> {
    const either = AbortSignal.any([signal, this.#signal])
    return this.#client.orders.list({ state, petId, limit: pageSize, signal: either })
  }

  get(orderId: bigint): Promise<Order> {
    return this.#client.orders.get(orderId, { signal: this.#signal })
  }

  create(order: NewOrder): Promise<Order> {
    return this.#client.orders.create(order, { signal: this.#signal })
  }

  complete(orderId: bigint): Promise<Order> {
    return this.#client.orders.complete(orderId, { signal: this.#signal })
  }

  cancel(orderId: bigint): Promise<void> {
    return this.#client.orders.cancel(orderId, { signal: this.#signal })
  }

  availability(petId: bigint): Promise<Availability> {
    return this.#client.inventory.availability(petId, { signal: this.#signal })
  }
}
