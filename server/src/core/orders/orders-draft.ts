import { availableOf } from '../stock/inventory.ts'
import type { StockDraft } from '../stock/stock-draft.ts'
import {
  type ChangeOrigin,
  type OrderOutcome,
  type OrderRequest,
  type Shortage,
  STORE_KEY_ID,
} from '../stock/stock-request.ts'
import { SECOND } from '../values/clock.ts'
import type { Order, OrderChange, OrderDraft } from './order.ts'

/** Holds that end in one commit, at the most. Where more are over, they end first, in commits of their own. */
export const MAX_EXPIRED_HOLDS = 1_000

/** What a commit about orders finds, under the lock of the pets that are named: that guards their orders as well. */
export interface LockedOrders {
  /** By the store's clock, once everything is locked. */
  readonly now: number
  /** Those that are named. */
  readonly orders: ReadonlyMap<bigint, Order>
  /** Every hold of these pets that is over by now. */
  readonly expiredHolds: readonly Order[]
  /** For orders that are made, as many as may be. */
  readonly newIds: readonly bigint[]
}

/** What is written of orders, beside their rows in the log. */
export interface OrderChanges {
  readonly added: readonly Order[]
  readonly changed: readonly Order[]
  /** How many holds ended, and how many orders were refused for lack of stock. */
  readonly expired: number
  readonly refused: number
}

/** Orders and what they reserve, as the requests so far have left them. Holds that are over end before the first. */
export class OrdersDraft {
  readonly #stock: StockDraft
  readonly #found: LockedOrders
  readonly #added = new Map<bigint, Order>()
  readonly #changed = new Map<bigint, Order>()
  /** Whether the log tells of each. */
  readonly #writesLog: boolean
  #refused = 0

  constructor(stock: StockDraft, found: LockedOrders, writesLog = true) {
    this.#stock = stock
    this.#found = found
    this.#writesLog = writesLog
    const by = { keyId: STORE_KEY_ID, at: found.now }
    for (const order of found.expiredHolds) this.#close(order, 'expired', by)
    stock.logThresholdCrossings(by)
  }

  get changes(): OrderChanges {
    return {
      added: [...this.#added.values()],
      changed: [...this.#changed.values()],
      expired: this.#found.expiredHolds.length,
      refused: this.#refused,
    }
  }

  get now(): number {
    return this.#found.now
  }

  decide(request: OrderRequest): OrderOutcome {
    if ('holdsOf' in request) return { expired: this.#found.expiredHolds.length }
    if ('draft' in request) return this.#create(request.draft, request)
    const { orderId, petId, update } = request
    const order = petId === undefined ? undefined : this.find(orderId)
    if (order === undefined) return { unknownOrder: orderId }
    if (order.petId !== petId) throw new Error(`order ${orderId} is not of petId ${petId}, which was locked`)
    if (update === 'complete') return this.complete(order, request)
    if (update === 'cancel') return this.#cancel(order, request)
    if (order.state !== 'open') return { closed: order }
    return { order: this.change({ ...order, shipDate: update.shipDate }, request) }
  }

  find(orderId: bigint): Order | undefined {
    return this.#added.get(orderId) ?? this.#changed.get(orderId) ?? this.#found.orders.get(orderId)
  }

  /** What keeps so many more of a pet from being reserved. */
  obstacle(petId: bigint, wanted: number): { readonly shortage: Shortage } | 'unknown_pet' | undefined {
    const entry = this.#stock.entry(petId)
    if (entry === undefined) return 'unknown_pet'
    const available = availableOf(entry)
    return wanted > 0 && available < wanted ? { shortage: { petId, wanted, available } } : undefined
  }

  add(order: Order, by: ChangeOrigin): Order {
    if (this.find(order.id) !== undefined) throw new Error(`there is an order ${order.id} already`)
    this.#added.set(order.id, order)
    if (order.state === 'open') this.#stock.reserve(order.petId, order.quantity)
    this.#tell(order, order.state === 'open' ? 'created' : 'completed', by)
    return order
  }

  /** Takes it out of what is on the shelf, and out of what is reserved. */
  complete(order: Order, by: ChangeOrigin): OrderOutcome {
    const { id, petId, quantity, state } = order
    if (state === 'complete') return { order }
    if (state !== 'open') return { closed: order }
    const item = this.#stock.find(petId)
    if (item === undefined) throw new Error(`order ${id} is open, but petId ${petId} has no entry`)
    if (item.quantity < quantity) return { shortage: { petId, wanted: quantity, available: item.quantity } }
    const { keyId, at } = by
    this.#stock.set(item, item.quantity - quantity, { keyId, at, reason: 'sold', reference: `order ${id}` })
    return { order: this.#close(order, 'complete', by) }
  }

  /** To another ship date or, of an open one, to another quantity. */
  change(order: Order, by: ChangeOrigin): Order {
    const before = this.find(order.id)
    if (before === undefined) throw new Error(`there is no order ${order.id} to change`)
    if (before.quantity === order.quantity && before.shipDate === order.shipDate) return before
    if (order.state === 'open') this.#stock.reserve(order.petId, order.quantity - before.quantity)
    this.#changed.set(order.id, order)
    this.#tell(order, 'changed', by)
    return order
  }

  #create(draft: OrderDraft, by: ChangeOrigin): OrderOutcome {
    const { petId, quantity, shipDate, holdSeconds } = draft
    const obstacle = this.obstacle(petId, quantity)
    if (obstacle !== undefined) {
      if (obstacle !== 'unknown_pet') this.#refused++
      return obstacle
    }
    const { newIds, now } = this.#found
    const id = newIds[this.#added.size]
    if (id === undefined) throw new Error(`there are only ${newIds.length} ids for new orders`)
    const order = {
      ...({ id, petId, quantity, state: 'open', createdAt: now } as const),
      ...(holdSeconds === undefined ? {} : { expiresAt: now + holdSeconds * SECOND }),
      ...(shipDate === undefined ? {} : { shipDate }),
    }
    return { order: this.add(order, by) }
  }

  /** One that expired has released what it held already. */
  #cancel(order: Order, by: ChangeOrigin): OrderOutcome {
    if (order.state === 'complete') return { closed: order }
    return { order: order.state === 'open' ? this.#close(order, 'cancelled', by) : order }
  }

  #close(order: Order, state: Exclude<Order['state'], 'open'>, by: ChangeOrigin): Order {
    if (order.state !== 'open') throw new Error(`order ${order.id} is ${order.state} already`)
    const closed = { ...order, state }
    this.#stock.reserve(order.petId, -order.quantity)
    this.#changed.set(order.id, closed)
    this.#tell(closed, state === 'complete' ? 'completed' : state, by)
    return closed
  }

  #tell(order: Order, change: OrderChange, by: ChangeOrigin): void {
    if (this.#writesLog) this.#stock.logOrder(order, change, by)
  }
}
