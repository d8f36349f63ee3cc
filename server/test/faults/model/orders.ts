import { SYSTEM_KEY_ID } from '../../../src/core/stock/command.ts'
import type { ChangedBy } from './outcome.ts'
import { IMPORT_KEY, type ModelWorld } from './world.ts'

export type OrderState = 'open' | 'complete' | 'cancelled' | 'expired'

/** Why an order cannot be closed or changed. */
export type OrderRefusal = 'not_found' | 'order_closed' | 'insufficient_stock'

export interface ModelOrder {
  readonly petId: bigint
  readonly quantity: number
  readonly state: OrderState
  readonly createdAt: number
  readonly createdBy: string
  readonly closedBy?: string
  readonly expiresAt?: number
  readonly closedAt?: number
  readonly shipDate?: number
}

/** An order in a file. */
export type ImportedOrder = Required<Pick<ModelOrder, 'petId' | 'quantity' | 'shipDate'>> & {
  readonly complete: boolean
}

/** The orders of the model. A hold expires by the clock of the store, which all instances share. */
export class ModelOrders {
  readonly #world: ModelWorld
  readonly #orders = new Map<bigint, ModelOrder>()

  constructor(world: ModelWorld) {
    this.#world = world
  }

  find(id: bigint): ModelOrder | undefined {
    const order = this.#orders.get(id)
    if (order?.state !== 'open' || order.expiresAt === undefined || order.expiresAt > this.#world.now)
      return order
    return { ...order, state: 'expired', closedAt: order.expiresAt }
  }

  /** By id ascending. */
  sorted(): (readonly [bigint, ModelOrder])[] {
    const ids = [...this.#orders.keys()].sort((a, b) => (a < b ? -1 : 1))
    return ids.map((id) => [id, this.#known(id)])
  }

  /** Adds or changes an order, and records the event. */
  put(id: bigint, order: ModelOrder, change: string, by: ChangedBy): ModelOrder {
    this.#orders.set(id, order)
    this.#world.events.tell(order.petId, 'order', { change, order: orderBody(id, order) }, by)
    return order
  }

  /** Whether there is any hold: the time at which an expiry is recorded is unknown. */
  get hasHolds(): boolean {
    return this.#orders.values().some(({ expiresAt }) => expiresAt !== undefined)
  }

  /** The units of a pet that open orders reserve. */
  reservedOf(petId: bigint): number {
    const open = this.sorted().filter(([, order]) => order.petId === petId && order.state === 'open')
    return open.reduce((sum, [, { quantity }]) => sum + quantity, 0)
  }

  /** The units of a pet that can be ordered; `undefined` for an unknown pet. */
  availableOf(petId: bigint): number | undefined {
    const pet = this.#world.pets.get(petId)
    return pet === undefined ? undefined : pet.quantity - this.reservedOf(petId)
  }

  complete(id: bigint, by: ChangedBy): ModelOrder | OrderRefusal {
    const order = this.find(id)
    if (order === undefined) return 'not_found'
    if (order.state === 'complete') return order
    if (order.state !== 'open') return 'order_closed'
    const { petId, quantity } = order
    const left = (this.#world.pets.get(petId)?.quantity ?? 0) - quantity
    if (left < 0) return 'insufficient_stock'
    this.#world.setQuantity(petId, left, { ...by, reason: 'sold', reference: `order ${id}` })
    return this.put(id, this.#closed(order, 'complete', by), 'completed', by)
  }

  cancel(id: bigint, by: ChangedBy): ModelOrder | OrderRefusal {
    const order = this.find(id)
    if (order === undefined) return 'not_found'
    if (order.state === 'complete') return 'order_closed'
    return order.state === 'open'
      ? this.put(id, this.#closed(order, 'cancelled', by), 'cancelled', by)
      : order
  }

  setShipDate(id: bigint, shipDate: number, by: ChangedBy): ModelOrder | OrderRefusal {
    const order = this.find(id)
    if (order === undefined) return 'not_found'
    if (order.state !== 'open') return 'order_closed'
    return order.shipDate === shipDate ? order : this.put(id, { ...order, shipDate }, 'changed', by)
  }

  /** Holds that have expired stay so, whatever the clock says later. */
  endHolds(): void {
    const by = { at: this.#world.now, id: SYSTEM_KEY_ID, name: SYSTEM_KEY_ID }
    for (const [id, order] of this.sorted()) {
      if (order.state !== this.#orders.get(id)?.state) this.put(id, order, order.state, by)
    }
    this.#world.catalog.tellCrossings(by)
  }

  /** Imports an order; returns whether that is possible. A new complete one takes nothing from the stock. */
  bringIn(id: bigint, wanted: ImportedOrder): boolean {
    const { petId, quantity, complete, shipDate } = wanted
    this.endHolds()
    const order = this.find(id)
    if (order !== undefined) {
      if (order.petId !== petId || order.state === 'cancelled' || order.state === 'expired') return false
      if (order.state === 'complete' && !complete) return false
      if ((order.state === 'complete' || complete) && order.quantity !== quantity) return false
    }
    if (!complete) {
      const more = quantity - (order?.quantity ?? 0)
      const available = this.availableOf(petId)
      if (available === undefined || (more > 0 && available < more)) return false
    }
    const by = { at: this.#world.now, id: IMPORT_KEY, name: IMPORT_KEY }
    if (order?.state === 'open' && complete && typeof this.complete(id, by) === 'string') return false
    const before = this.find(id)
    if (before === undefined) {
      const made = {
        petId,
        quantity,
        shipDate,
        state: 'open',
        createdAt: this.#world.now,
        createdBy: by.id,
      } as const
      this.put(
        id,
        complete ? this.#closed(made, 'complete', by) : made,
        complete ? 'completed' : 'created',
        by,
      )
    } else if (before.quantity !== quantity || before.shipDate !== shipDate) {
      this.put(id, { ...before, quantity, shipDate }, 'changed', by)
    }
    this.#world.catalog.tellCrossings(by)
    return true
  }

  #closed(order: ModelOrder, state: OrderState, by: ChangedBy): ModelOrder {
    return { ...order, state, closedAt: this.#world.now, closedBy: by.id }
  }

  #known(id: bigint): ModelOrder {
    const order = this.find(id)
    if (order === undefined) throw new Error(`the model has no order ${id}`)
    return order
  }
}

/** An order in a response. */
export function orderBody(id: bigint, order: ModelOrder) {
  const { petId, quantity, state, createdAt, expiresAt, closedAt, createdBy, closedBy, shipDate } = order
  return {
    id,
    petId,
    quantity: BigInt(quantity),
    ...(shipDate === undefined ? {} : { shipDate: iso(shipDate) }),
    complete: state === 'complete',
    state,
    createdAt: iso(createdAt),
    ...(expiresAt === undefined ? {} : { expiresAt: iso(expiresAt) }),
    ...(closedAt === undefined ? {} : { closedAt: iso(closedAt) }),
    createdBy,
    ...(closedBy === undefined ? {} : { closedBy }),
  }
}

function iso(time: number): string {
  return new Date(time).toISOString()
}
