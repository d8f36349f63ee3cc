import { expect } from 'bun:test'
import {
  type NewOrder,
  ORDER_STATES,
  type Order,
  type OrderPatch,
  type OrderRow,
} from '../../src/core/orders/order.ts'
import type { OutcomeOf, Result } from '../../src/core/stock/command.ts'
import type { Store } from '../../src/store/store.ts'
import type { OrderUpdate } from '../support/order-command.ts'

/** The stock, as orders see it. */
interface Shelf {
  readonly quantities: ReadonlyMap<bigint, number>
  record(petId: bigint, quantity: number): void
}

/** The expected orders and their reserved units, always computed from the orders alone. */
export class ModelOrders {
  /** As stored: an expired hold stays open until a commit needs it. */
  readonly #orders = new Map<bigint, Order>()
  readonly #shelf: Shelf
  now = 1_000_000

  constructor(shelf: Shelf) {
    this.#shelf = shelf
  }

  get all(): Order[] {
    return [...this.#orders.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
  }

  find(id: bigint): Order | undefined {
    return this.#orders.get(id)
  }

  hasOpen(petId: bigint): boolean {
    return this.all.some((order) => order.petId === petId && order.state === 'open')
  }

  /** The first step of every commit on orders of these pets. */
  endHolds(petIds: readonly bigint[]): void {
    for (const order of this.all) {
      // An unknown pet has none.
      if (petIds.includes(order.petId) && this.#shownState(order) !== order.state)
        this.#set(this.#expired(order))
    }
  }

  create({ petId, quantity, holdSeconds, ...details }: NewOrder, outcome: Result | undefined): void {
    const available = this.#availableOf(petId)
    if (available === undefined) expect(outcome).toEqual({ type: 'unknown_pet' })
    else if (available < quantity) {
      expect(outcome).toEqual({ type: 'insufficient_stock', petId, wanted: quantity, available })
    } else {
      if (outcome === undefined || !('order' in outcome)) throw new Error(Bun.inspect(outcome))
      const { id } = outcome.order
      expect(this.#orders.has(id)).toBe(false)
      const order: Order = {
        id,
        petId,
        quantity,
        state: 'open',
        createdAt: this.now,
        ...(holdSeconds === undefined ? {} : { expiresAt: this.now + holdSeconds * 1_000 }),
        ...details,
        createdBy: 'key_a',
      }
      expect(outcome.order).toEqual(order)
      this.#orders.set(id, order)
    }
  }

  createAll(drafts: readonly NewOrder[], outcome: OutcomeOf<'create_orders'>): void {
    const isPossible = [...Map.groupBy(drafts, ({ petId }) => petId)].every(([petId, wanted]) => {
      const available = this.#availableOf(petId)
      return available !== undefined && wanted.reduce((sum, { quantity }) => sum + quantity, 0) <= available
    })
    expect(outcome.type).toBe(isPossible ? 'done' : 'refused')
    if (outcome.type === 'refused') return
    expect(outcome.orders).toHaveLength(drafts.length)
    for (const [index, order] of outcome.orders.entries()) {
      const draft = drafts[index]
      if (draft !== undefined) this.create(draft, { type: 'done', order })
    }
  }

  update(
    id: bigint,
    update: OrderUpdate,
    closedBy = 'key_a',
  ): OutcomeOf<'complete_order' | 'cancel_order' | 'change_order'> {
    const order = this.#orders.get(id)
    if (order === undefined) return { type: 'unknown_order' }
    const { petId, quantity, state } = order
    if (update === 'cancel') {
      if (state === 'complete') return { type: 'order_closed', order }
      return { type: 'done', order: state === 'open' ? this.#put(order, 'cancelled', closedBy) : order }
    }
    if (update === 'complete' && state === 'complete') return { type: 'done', order }
    if (state !== 'open') return { type: 'order_closed', order }
    if (update !== 'complete') return { type: 'done', order: this.#set(withPatch(order, update)) }
    const left = (this.#shelf.quantities.get(petId) ?? 0) - quantity
    if (left < 0) return { type: 'insufficient_stock', petId, wanted: quantity, available: left + quantity }
    this.#shelf.record(petId, left)
    return { type: 'done', order: this.#put(order, 'complete', closedBy) }
  }

  /** Whether a row of a file differs from the stored order. */
  differs({ complete, ...row }: OrderRow): boolean {
    const order = this.#orders.get(row.id)
    const state = complete ? 'complete' : 'open'
    const { petId, quantity, shipDate, customer, note } = row
    return !Bun.deepEquals(
      [order?.petId, order?.quantity, order?.shipDate, order?.customer, order?.note, order?.state],
      [petId, quantity, shipDate, customer, note, state],
    )
  }

  /** Applies a row of a file; returns whether that was possible. */
  bringIn({ complete, ...row }: OrderRow): boolean {
    const { id, petId, quantity } = row
    const order = this.#orders.get(id)
    if (order !== undefined && (order.petId !== petId || /cancelled|expired/.test(order.state))) return false
    if (order?.state === 'complete' && !complete) return false
    if (complete && order !== undefined && order.quantity !== quantity) return false
    const more = quantity - (order?.quantity ?? 0)
    if (!complete) {
      const available = this.#availableOf(petId)
      if (available === undefined || (more > 0 && available < more)) return false
    }
    if (order?.state === 'open' && complete) {
      const outcome = this.update(id, 'complete', 'import')
      if (outcome.type === 'insufficient_stock') return false
    }
    const created: Order = { id, petId, quantity, state: 'open', createdAt: this.now, createdBy: 'import' }
    const base = this.#orders.get(id) ?? (complete ? this.#put(created, 'complete', 'import') : created)
    this.#set(withPatch(base, { shipDate: null, customer: null, note: null, ...row }))
    return true
  }

  async check(store: Store): Promise<void> {
    const shown = this.all.map((order) => {
      const state = this.#shownState(order)
      return state === order.state ? order : this.#expired(order)
    })
    for (const state of ORDER_STATES) {
      expect(await store.listOrders({ state }, 999)).toEqual(shown.filter((order) => order.state === state))
    }
    const listed = shown.filter(({ state }) => state === 'open' || state === 'complete')
    expect(await store.listOrders({}, 999)).toEqual(listed)
    for (const [petId, quantity] of this.#shelf.quantities) {
      const reserved = this.#reservedOf(petId)
      expect(await store.findAvailability(petId)).toEqual({ petId, quantity, reserved })
    }
  }

  #shownState({ state, expiresAt }: Order): Order['state'] {
    return state === 'open' && expiresAt !== undefined && this.now >= expiresAt ? 'expired' : state
  }

  #reservedOf(petId: bigint): number {
    return this.all
      .filter((order) => order.petId === petId && this.#shownState(order) === 'open')
      .reduce((sum, { quantity }) => sum + quantity, 0)
  }

  #availableOf(petId: bigint): number | undefined {
    const quantity = this.#shelf.quantities.get(petId)
    return quantity === undefined ? undefined : quantity - this.#reservedOf(petId)
  }

  #put(order: Order, state: 'complete' | 'cancelled', closedBy: string): Order {
    return this.#set({ ...order, state, closedAt: this.now, closedBy })
  }

  #expired(order: Order): Order {
    return { ...order, state: 'expired', closedAt: order.expiresAt ?? 0 }
  }

  #set(order: Order): Order {
    this.#orders.set(order.id, order)
    return order
  }
}

function withPatch(order: Order, patch: OrderPatch): Order {
  const entries = Object.entries({ ...order, ...patch }).filter(([, value]) => value !== null)
  return Object.fromEntries(entries) as unknown as Order
}
