import { type ChangeOrigin, SYSTEM_KEY_ID } from '../stock/change-origin.ts'
import type {
  CommandOf,
  InsufficientStock,
  OrderAndPet,
  OrderClosed,
  OrderDone,
  OutcomeOf,
  UnknownPet,
} from '../stock/command.ts'
import { availableText, entryNotFound } from '../stock/inventory.ts'
import { toFailure } from '../stock/refusal.ts'
import { availableOf, type StockDraft, takeId } from '../stock/stock-draft.ts'
import { SECOND } from '../values/clock.ts'
import type { ErrorDetail } from '../values/errors.ts'
import { isSameRecord, withUpdate } from '../values/field.ts'
import { allowsRecord } from '../values/record-tag.ts'
import {
  expiredOrder,
  type NewOrder,
  ORDER,
  ORDER_TRANSITIONS,
  type Order,
  type OrderChange,
} from './order.ts'

/**
 * The maximum number of expired holds that one commit releases. A commit that reaches this maximum only releases holds; its
 * commands need another commit.
 */
export const MAX_EXPIRED_HOLDS = 1_000

/** The orders that a commit has read. Locking a pet also locks its orders. */
export interface LockedOrders {
  /** The time by the store's clock, after everything was locked. */
  readonly now: number
  readonly orders: ReadonlyMap<bigint, Order>
  /** The holds of the locked pets that have expired but are still stored as open. */
  readonly expiredHolds: readonly Order[]
  /** Free ids, enough for the orders that the commands create. */
  readonly newIds: readonly bigint[]
}

export interface OrderChanges {
  readonly added: readonly Order[]
  readonly changed: readonly Order[]
  /** How many of the changed orders are expired holds. */
  readonly expired: number
  /** How many orders were refused because of insufficient stock. */
  readonly refused: number
}

/** The orders that a commit is building. Expired holds are released before the first command. */
export class OrdersDraft {
  readonly #stock: StockDraft
  readonly #locked: LockedOrders
  readonly #added = new Map<bigint, Order>()
  readonly #changed = new Map<bigint, Order>()
  #refusedCount = 0

  constructor(stock: StockDraft, locked: LockedOrders) {
    this.#stock = stock
    this.#locked = locked
    const by = { keyId: SYSTEM_KEY_ID, at: locked.now }
    for (const order of locked.expiredHolds) this.#transition(order, 'expired', by)
    stock.logThresholdCrossings(by)
  }

  get changes(): OrderChanges {
    return {
      added: [...this.#added.values()],
      changed: [...this.#changed.values()],
      expired: this.#locked.expiredHolds.length,
      refused: this.#refusedCount,
    }
  }

  get now(): number {
    return this.#locked.now
  }

  create(command: CommandOf<'create_order'>): OutcomeOf<'create_order'> {
    const { petId, quantity } = command.order
    const failure = this.reservationFailure(petId, quantity)
    if (failure === undefined) return { type: 'done', order: this.#createOrder(command.order, command) }
    if (failure.type === 'insufficient_stock') this.#refusedCount++
    return failure
  }

  /** Creates all orders or none. The quantities of orders for the same pet are added up. */
  createAll(command: CommandOf<'create_orders'>): OutcomeOf<'create_orders'> {
    const { orders } = command
    const wantedByPet = new Map<bigint, number>()
    const failures: ErrorDetail[] = []
    for (const [index, { petId, quantity }] of orders.entries()) {
      const alreadyWanted = wantedByPet.get(petId) ?? 0
      const failure = this.reservationFailure(petId, alreadyWanted + quantity)
      if (failure === undefined) wantedByPet.set(petId, alreadyWanted + quantity)
      else failures.push(failureDetail(index, failure, petId, quantity, alreadyWanted))
    }
    if (failures.length > 0) {
      this.#refusedCount += failures.filter(({ code }) => code === 'insufficient_stock').length
      return { type: 'refused', failures }
    }
    return { type: 'done', orders: orders.map((order) => this.#createOrder(order, command)) }
  }

  #createOrder(newOrder: NewOrder, by: ChangeOrigin): Order {
    const { holdSeconds, ...fields } = newOrder
    const { newIds, now } = this.#locked
    const order = withUpdate(ORDER, {
      ...fields,
      id: takeId(newIds, this.#added.size, 'orders'),
      state: ORDER_TRANSITIONS.created.to,
      createdAt: now,
      createdBy: by.keyId,
      ...(holdSeconds === undefined ? {} : { expiresAt: now + holdSeconds * SECOND }),
    })
    return this.add(order, by)
  }

  complete(command: CommandOf<'complete_order'>): OutcomeOf<'complete_order'> {
    const order = this.#findLocked(command)
    if (order === undefined) return { type: 'unknown_order' }
    if (!allowsRecord(command, ORDER, order)) return { type: 'record_changed' }
    if (command.onlyIfOpen && order.state !== 'open') return { type: 'order_closed', order }
    return this.completeIfAllowed(order, command)
  }

  cancel(command: CommandOf<'cancel_order'>): OutcomeOf<'cancel_order'> {
    const order = this.#findLocked(command)
    if (order === undefined) return { type: 'unknown_order' }
    if (!allowsRecord(command, ORDER, order)) return { type: 'record_changed' }
    const outcome = outcomeWithoutChange(order, 'cancelled')
    return outcome ?? { type: 'done', order: this.#transition(order, 'cancelled', command) }
  }

  change(command: CommandOf<'change_order'>): OutcomeOf<'change_order'> {
    const order = this.#findLocked(command)
    if (order === undefined) return { type: 'unknown_order' }
    if (!allowsRecord(command, ORDER, order)) return { type: 'record_changed' }
    const changed = withUpdate(ORDER, order, command.patch)
    const outcome = outcomeWithoutChange(order, 'changed')
    return outcome ?? { type: 'done', order: this.replaceOrder(changed, command) }
  }

  find(orderId: bigint): Order | undefined {
    return this.#added.get(orderId) ?? this.#changed.get(orderId) ?? this.#locked.orders.get(orderId)
  }

  /** Why these units of a pet cannot be reserved; `undefined` if they can. */
  reservationFailure(petId: bigint, wanted: number): InsufficientStock | UnknownPet | undefined {
    const entry = this.#stock.findEntry(petId)
    if (entry === undefined) return { type: 'unknown_pet' }
    const available = availableOf(entry)
    return wanted > 0 && available < wanted
      ? { type: 'insufficient_stock', petId, wanted, available }
      : undefined
  }

  /** Adds an order whose state is `open`, which reserves stock, or `complete` (from a file), which changes no stock. */
  add(order: Order, by: ChangeOrigin): Order {
    if (this.find(order.id) !== undefined) throw new Error(`order ${order.id} already exists`)
    this.#added.set(order.id, order)
    const isOpen = order.state === 'open'
    if (isOpen) this.#stock.changeReserved(order.petId, order.quantity)
    this.#stock.logOrder(order, isOpen ? 'created' : 'completed', by)
    return order
  }

  completeIfAllowed(order: Order, by: ChangeOrigin): OrderDone | OrderClosed | InsufficientStock {
    const outcome = outcomeWithoutChange(order, 'completed')
    if (outcome !== undefined) return outcome
    const { petId, quantity } = order
    const onShelf = this.#stock.requireEntry(petId).quantity
    if (onShelf < quantity) {
      return { type: 'insufficient_stock', petId, wanted: quantity, available: onShelf }
    }
    return { type: 'done', order: this.#transition(order, 'completed', by) }
  }

  /**
   * For a patch, `order` is open and keeps its quantity. An import may change the quantity, or replace an order whose
   * state is `complete`.
   */
  replaceOrder(order: Order, by: ChangeOrigin): Order {
    const before = this.find(order.id)
    if (before === undefined) throw new Error(`there is no order ${order.id} to change`)
    if (isSameRecord(ORDER, before, order)) return before
    if (order.state === 'open') this.#stock.changeReserved(order.petId, order.quantity - before.quantity)
    this.#changed.set(order.id, order)
    this.#stock.logOrder(order, 'changed', by)
    return order
  }

  #findLocked({ orderId, petId }: OrderAndPet): Order | undefined {
    // Without a petId, the order did not exist when the command was created.
    const order = petId === undefined ? undefined : this.find(orderId)
    if (order !== undefined && order.petId !== petId) {
      throw new Error(`pet ${petId} was locked for order ${orderId}, which is for pet ${order.petId}`)
    }
    return order
  }

  #transition(order: Order, change: OrderChange, by: ChangeOrigin): Order {
    const { from, to, units } = ORDER_TRANSITIONS[change]
    if (!from.includes(order.state)) throw new Error(`order ${order.id} is already ${order.state}`)
    const { id, petId, quantity } = order
    const isClosing = units === 'take' || units === 'release'
    if (isClosing) this.#stock.changeReserved(petId, -quantity)
    if (units === 'take') this.#sell(order, by)
    const closingFields = isClosing ? { closedAt: this.now, closedBy: by.keyId } : {}
    const after = to === 'expired' ? expiredOrder(order, this.now) : { ...order, state: to, ...closingFields }
    this.#changed.set(id, after)
    this.#stock.logOrder(after, change, by)
    return after
  }

  #sell({ id: orderId, petId, quantity }: Order, { keyId, at }: ChangeOrigin): void {
    const by: ChangeOrigin = { keyId, at, reason: 'sold', reference: `order ${orderId}` }
    const occurredAt = this.#stock.timeOfNow(at, [petId])
    const document = this.#stock.openDocument({ by, occurredAt, orderId })
    const after = this.#stock.requireEntry(petId).quantity - quantity
    const statement = { type: 'movement', delta: -quantity } as const
    this.#stock.record(document, { petId, after, statement, effect: 'applied' })
  }
}

/** The outcome if this state ignores or forbids the change; `undefined` if the transition is allowed. */
function outcomeWithoutChange(order: Order, change: OrderChange): OrderDone | OrderClosed | undefined {
  const { from, ignoredIn } = ORDER_TRANSITIONS[change]
  if (ignoredIn.includes(order.state)) return { type: 'done', order }
  return from.includes(order.state) ? undefined : { type: 'order_closed', order }
}

/** `alreadyWanted` is the number of the pet's units that earlier orders in the same request need. */
function failureDetail(
  index: number,
  failure: InsufficientStock | UnknownPet,
  petId: bigint,
  quantity: number,
  alreadyWanted: number,
): ErrorDetail {
  if (failure.type === 'unknown_pet') return toFailure(entryNotFound(petId), index, petId)
  const available = failure.available - alreadyWanted
  const condition = alreadyWanted === 0 ? '' : ' after the earlier orders in this request'
  return {
    index,
    petId,
    code: 'insufficient_stock',
    message: `${availableText(petId, available)}${condition}, so ${quantity} cannot be ordered`,
    available,
  }
}
