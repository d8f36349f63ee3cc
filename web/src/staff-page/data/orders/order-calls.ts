import type { Availability, Order, OrderState, PetstoreClient } from '@petstore/client'

export type OrderDraft = Parameters<PetstoreClient['orders']['create']>[0] & { readonly petId: bigint }

export interface OrderQuery {
  /** Open and complete orders without it. */
  readonly state?: OrderState | undefined
  readonly petId?: bigint | undefined
  /** The beginning of the customer's name. The orders are then sorted by customer. */
  readonly customer?: string | undefined
  readonly pageSize: number
}

/** The requests about orders. */
export class OrderCalls {
  readonly #client: PetstoreClient
  readonly #signal: AbortSignal

  constructor(client: PetstoreClient, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
  }

  /** By id. Each page is requested when it is needed. */
  list({ pageSize, ...query }: OrderQuery, signal: AbortSignal): AsyncIterable<Order> {
    const either = AbortSignal.any([signal, this.#signal])
    return this.#client.orders.list({ ...query, limit: pageSize, signal: either })
  }

  get(orderId: bigint): Promise<Order> {
    return this.#client.orders.get(orderId, { signal: this.#signal })
  }

  create(order: OrderDraft): Promise<Order> {
    return this.#client.orders.create(order, { signal: this.#signal })
  }

  /** Throws `order_closed` if somebody else has completed the order. */
  complete(orderId: bigint): Promise<Order> {
    return this.#client.orders.update(orderId, { complete: true, onlyIfOpen: true }, { signal: this.#signal })
  }

  cancel(orderId: bigint): Promise<void> {
    return this.#client.orders.cancel(orderId, { signal: this.#signal })
  }

  availability(petId: bigint): Promise<Availability> {
    return this.#client.inventory.availability(petId, { signal: this.#signal })
  }
}
