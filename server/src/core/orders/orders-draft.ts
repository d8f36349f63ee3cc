import { planMovement } from '../stock/adjust.ts'
import type { ChangeOrigin } from '../stock/change-origin.ts'
import type {
  CommandOf,
  OrderClosed,
  OrderDone,
  OutcomeOf,
  RecordChanged,
  Refused,
  UnknownOrder,
} from '../stock/command.ts'
import { latenessOf, type TooLate } from '../stock/facts.ts'
import { availableText, entryNotFound } from '../stock/inventory.ts'
import { availableOf, type PlannedFact, type StockDraft, takeId } from '../stock/stock-draft.ts'
import { SECOND } from '../values/clock.ts'
import type { ErrorDetail } from '../values/errors.ts'
import { withUpdate } from '../values/field.ts'
import {
  COMPLETE_STATE,
  expiredOrder,
  isErasure,
  isExpired,
  isSameOrder,
  losesPersonalData,
  NEW_STATE,
  type NewOrderLine,
  ORDER,
  ORDER_CHANGES,
  ORDER_TRANSITIONS,
  type Order,
  type OrderChange,
  type OrderLine,
  orderTag,
  petIdsOfLines,
  stateRules,
  toOrderLines,
} from './order.ts'

/** The orders that a commit has read, after it has locked their pets. While all pets of an order are locked, it cannot change. */
export interface LockedOrders {
  /** The time by the store's clock, after everything was locked. */
  readonly now: number
  /** The pets that the commit has locked. Those that do not exist are among them. */
  readonly petIds: ReadonlySet<bigint>
  readonly orders: ReadonlyMap<bigint, Order>
  /** Free ids, enough for the orders that the commands create. */
  readonly newIds: readonly bigint[]
}

export interface OrderChanges {
  readonly added: readonly Order[]
  readonly changed: readonly Order[]
  /** Whether orders have lost personal data, which must not stay anywhere. */
  readonly hasErasures: boolean
  /** How many of the changed orders are expired holds. */
  readonly expired: number
  /** How many orders were refused because of insufficient stock. */
  readonly refused: number
}

/** An order has pets that the commit did not lock. The commit has to lock these as well, and decide again. */
export class PetsNeeded extends Error {
  override readonly name = 'PetsNeeded'
  readonly petIds: readonly bigint[]
  /** The orders that have these pets. */
  readonly orderIds: readonly bigint[]

  constructor(petIds: readonly bigint[], orderIds: readonly bigint[]) {
    super(`the commit has to lock the pets ${petIds.join(', ')} of its orders ${orderIds.join(', ')}`)
    this.petIds = petIds
    this.orderIds = orderIds
  }
}

/** When the goods left, if the caller says so, and whether units that other orders reserve may be taken. */
interface SaleOptions {
  readonly occurredAt?: number | undefined
  readonly evenIfReserved?: boolean | undefined
}

/** The orders that a commit is building. */
export class OrdersDraft {
  readonly #stock: StockDraft
  readonly #locked: LockedOrders
  readonly #added = new Map<bigint, Order>()
  readonly #changed = new Map<bigint, Order>()
  #hasErasures = false
  #expiredCount = 0
  #refusedCount = 0

  /** Throws `PetsNeeded` if pets of the orders are not locked. */
  constructor(stock: StockDraft, locked: LockedOrders) {
    const missingPets: bigint[] = []
    const orderIds: bigint[] = []
    for (const { id, lines } of locked.orders.values()) {
      const missing = petIdsOfLines(lines).filter((petId) => !locked.petIds.has(petId))
      if (missing.length > 0) orderIds.push(id)
      missingPets.push(...missing)
    }
    if (missingPets.length > 0) throw new PetsNeeded(missingPets, orderIds)
    this.#stock = stock
    this.#locked = locked
  }

  get changes(): OrderChanges {
    return {
      added: [...this.#added.values()],
      changed: [...this.#changed.values()],
      hasErasures: this.#hasErasures,
      expired: this.#expiredCount,
      refused: this.#refusedCount,
    }
  }

  get now(): number {
    return this.#locked.now
  }

  create(command: CommandOf<'create_order'>): OutcomeOf<'create_order'> {
    const { holdSeconds, lines, ...fields } = command.order
    const { newIds, now } = this.#locked
    const record = withUpdate(ORDER, {
      ...fields,
      id: takeId(newIds, this.#added.size, 'orders'),
      state: NEW_STATE,
      createdAt: now,
      createdBy: command.keyId,
      ...(holdSeconds === undefined ? {} : { expiresAt: now + holdSeconds * SECOND }),
    })
    const order: Order = { ...record, lines: toOrderLines(lines) }
    if (command.complete) return this.#sell(order, command, lines)
    const failures = this.reservationFailures(lines)
    if (failures.length > 0) return this.#refuse(failures)
    return { type: 'done', order: this.add(order, command) }
  }

  complete(command: CommandOf<'complete_order'>): OutcomeOf<'complete_order'> {
    const order = this.#findUnchanged(command)
    if ('type' in order) return order
    if (command.onlyIfOpen && !stateRules(order.state).reserves && !this.#isLate(order, command)) {
      return { type: 'order_closed', order }
    }
    return this.completeIfAllowed(order, command)
  }

  cancel(command: CommandOf<'cancel_order'>): OutcomeOf<'cancel_order'> {
    const order = this.#findUnchanged(command)
    if ('type' in order) return order
    const outcome = outcomeWithoutChange(order, 'cancelled')
    return outcome ?? { type: 'done', order: this.#close(order, 'cancelled', command) }
  }

  change(command: CommandOf<'change_order'>): OutcomeOf<'change_order'> {
    const order = this.#findUnchanged(command)
    if ('type' in order) return order
    const { patch, lines, holdSeconds } = command
    const isOnlyErasure = lines === undefined && holdSeconds === undefined && isErasure(patch)
    const outcome = isOnlyErasure ? undefined : outcomeWithoutChange(order, 'changed')
    if (outcome !== undefined) return outcome
    const expiresAt = typeof holdSeconds === 'number' ? this.now + holdSeconds * SECOND : holdSeconds
    const record = withUpdate(ORDER, order, expiresAt === undefined ? patch : { ...patch, expiresAt })
    if (lines === undefined) {
      return { type: 'done', order: this.replaceOrder({ ...record, lines: order.lines }, command) }
    }
    const failures = this.reservationFailures(lines, order.lines)
    if (failures.length > 0) return this.#refuse(failures)
    return { type: 'done', order: this.replaceOrder({ ...record, lines: toOrderLines(lines) }, command) }
  }

  releaseExpired(command: CommandOf<'release_holds'>): OutcomeOf<'release_holds'> {
    for (const orderId of command.orderIds) {
      const order = this.find(orderId)
      if (order === undefined || !isExpired(order, this.now)) continue
      this.#close(order, 'expired', command)
      this.#expiredCount++
    }
    return { type: 'done' }
  }

  find(orderId: bigint): Order | undefined {
    return this.#added.get(orderId) ?? this.#changed.get(orderId) ?? this.#locked.orders.get(orderId)
  }

  /** Why lines cannot be reserved. `earlier` are the lines that they replace, whose units they may use. */
  reservationFailures(lines: readonly NewOrderLine[], earlier: readonly NewOrderLine[] = []): ErrorDetail[] {
    const reservedBefore = new Map(earlier.map(({ petId, quantity }) => [petId, quantity]))
    return lines.flatMap(({ petId, quantity }, index) => {
      const entry = this.#stock.findEntry(petId)
      if (entry === undefined) return unknownPet(index, petId)
      const additional = quantity - (reservedBefore.get(petId) ?? 0)
      const available = availableOf(entry)
      if (additional <= 0 || additional <= available) return []
      const wanted = earlier.length === 0 ? `${quantity}` : `${additional} more`
      const message = `${availableText(petId, available)}, so ${wanted} cannot be ordered`
      return { index, petId, code: 'insufficient_stock', message, available }
    })
  }

  /** Adds an order. It reserves its units, unless its state does not. */
  add(order: Order, by: ChangeOrigin): Order {
    if (this.find(order.id) !== undefined) throw new Error(`order ${order.id} already exists`)
    this.#added.set(order.id, order)
    if (stateRules(order.state).reserves) this.#reserve(order.lines)
    const change = ORDER_CHANGES.find((name) => ORDER_TRANSITIONS[name].to === order.state)
    if (change === undefined) throw new Error(`no transition leads to the state ${order.state}`)
    this.#stock.logOrder(order, change, by)
    return order
  }

  completeIfAllowed(
    order: Order,
    command: ChangeOrigin & Pick<CommandOf<'complete_order'>, 'occurredAt' | 'evenIfExpired'>,
  ): OrderDone | OrderClosed | Refused | TooLate {
    if (!this.#isLate(order, command)) {
      const outcome = outcomeWithoutChange(order, 'completed')
      if (outcome !== undefined) return outcome
    }
    return this.#sell(order, command, order.lines)
  }

  /** Replaces an order that keeps its state. */
  replaceOrder(order: Order, by: ChangeOrigin): Order {
    const before = this.find(order.id)
    if (before === undefined) throw new Error(`there is no order ${order.id} to change`)
    if (isSameOrder(before, order)) return before
    if (stateRules(order.state).reserves && order.lines !== before.lines) {
      this.#release(before.lines)
      this.#reserve(order.lines)
    }
    if (losesPersonalData(before, order)) this.#hasErasures = true
    return this.#put(order, 'changed', by)
  }

  /** The order that the command names, if the command applies to its state. */
  #findUnchanged({
    orderId,
    onlyIfTags,
  }: CommandOf<'complete_order' | 'cancel_order' | 'change_order'>): Order | UnknownOrder | RecordChanged {
    const order = this.find(orderId)
    if (order === undefined) return { type: 'unknown_order' }
    return onlyIfTags === undefined || onlyIfTags.includes(orderTag(order))
      ? order
      : { type: 'record_changed' }
  }

  #isLate({ state }: Order, { evenIfExpired }: { readonly evenIfExpired?: boolean | undefined }): boolean {
    return evenIfExpired === true && ORDER_TRANSITIONS.completed.lateFrom?.includes(state) === true
  }

  /** `sent` are the lines in the sequence of the caller, to whom failures are reported. */
  #sell(
    order: Order,
    command: ChangeOrigin & SaleOptions,
    sent: readonly NewOrderLine[],
  ): OrderDone | Refused | TooLate {
    const { occurredAt, evenIfReserved, at, keyId } = command
    const time = occurredAt ?? this.#stock.timeOfNow(at, petIdsOfLines(sent))
    const lateness = occurredAt === undefined ? undefined : latenessOf(this.#stock.facts, occurredAt, at)
    if (lateness !== undefined) return lateness
    const isReserved = stateRules(order.state).reserves && this.find(order.id) !== undefined
    const mustBeAvailable = !isReserved && !evenIfReserved
    const failures = sent.flatMap(
      (line, index) => this.#saleFailure(line, index, time, mustBeAvailable) ?? [],
    )
    if (failures.length > 0) return this.#refuse(failures)
    if (isReserved) this.#release(order.lines)
    const reference = order.reference ?? `order ${order.id}`
    const by: ChangeOrigin = { keyId, at, reason: 'sold', reference }
    const document = this.#stock.openDocument({ by, occurredAt: time, orderId: order.id })
    for (const line of order.lines) this.#stock.record(document, this.#requireSale(line, time))
    const closing = { state: COMPLETE_STATE, closedAt: this.now, closedBy: keyId, adjustmentId: document.id }
    return { type: 'done', order: this.#put({ ...order, ...closing }, 'completed', command) }
  }

  #saleFailure(
    { petId, quantity }: NewOrderLine,
    index: number,
    time: number,
    mustBeAvailable: boolean,
  ): ErrorDetail | undefined {
    const entry = this.#stock.findEntry(petId)
    if (entry === undefined) return unknownPet(index, petId)
    const sale = planMovement(petId, entry, -quantity, time)
    if ('code' in sale) return { index, petId, ...sale }
    const available = availableOf(entry)
    if (!mustBeAvailable || sale.effect !== 'applied' || quantity <= available) return undefined
    const message = `${availableText(petId, available)}, so ${quantity} cannot be sold`
    return { index, petId, code: 'insufficient_stock', message, available }
  }

  #requireSale({ petId, quantity }: OrderLine, time: number): PlannedFact {
    const sale = planMovement(petId, this.#stock.requireEntry(petId), -quantity, time)
    if ('code' in sale) throw new Error(`the sale of petId ${petId} was checked, but ${sale.message}`)
    return sale
  }

  /** Ends an order without a sale, and its reservation if it still has one. */
  #close(order: Order, change: 'cancelled' | 'expired', by: ChangeOrigin): Order {
    const { to } = ORDER_TRANSITIONS[change]
    if (to === 'same') throw new Error(`the transition ${change} must end the order`)
    if (stateRules(order.state).reserves) this.#release(order.lines)
    const closed =
      change === 'expired'
        ? expiredOrder(order, this.now)
        : { ...order, state: to, closedAt: this.now, closedBy: by.keyId }
    return this.#put(closed, change, by)
  }

  #put(order: Order, change: OrderChange, by: ChangeOrigin): Order {
    const isNew = !this.#locked.orders.has(order.id)
    if (isNew) this.#added.set(order.id, order)
    else this.#changed.set(order.id, order)
    this.#stock.logOrder(order, change, by)
    return order
  }

  #reserve(lines: readonly OrderLine[]): void {
    for (const { petId, quantity } of lines) this.#stock.changeReserved(petId, quantity)
  }

  /** A pet whose entry was lost has nothing reserved. Its orders must not block those of other pets. */
  #release(lines: readonly OrderLine[]): void {
    for (const { petId, quantity } of lines) {
      if (this.#stock.findEntry(petId) !== undefined) this.#stock.changeReserved(petId, -quantity)
    }
  }

  #refuse(failures: readonly ErrorDetail[]): Refused {
    if (failures.some(({ code }) => code === 'insufficient_stock')) this.#refusedCount++
    return { type: 'refused', failures }
  }
}

function unknownPet(index: number, petId: bigint): ErrorDetail {
  return { index, petId, code: 'not_found', message: entryNotFound(petId).message }
}

/** The outcome if this state ignores or forbids the change; `undefined` if the transition is allowed. */
function outcomeWithoutChange(order: Order, change: OrderChange): OrderDone | OrderClosed | undefined {
  const { from, ignoredIn } = ORDER_TRANSITIONS[change]
  if (ignoredIn.includes(order.state)) return { type: 'done', order }
  return from.includes(order.state) ? undefined : { type: 'order_closed', order }
}
