import {
  ChangingOrders,
  MAX_HOLDS_ENDED,
  type OrderChanges,
  type OrdersFound,
} from '../orders/changing-orders.ts'
import type { ErrorDetail } from '../values/errors.ts'
import { ChangingStock, type Made } from './changing-stock.ts'
import { AnswerBook, type Answers, type RememberedAnswer } from './idempotency.ts'
import { type EntryState, type InventoryItem, MAX_QUANTITY, noEntry } from './inventory.ts'
import {
  type Adjustment,
  type AdjustmentChange,
  type AdjustmentOutcome,
  type ChangeOutcome,
  isAdjustment,
  isOrderRequest,
  type QuantityChange,
  type QuantityOutcome,
  type StockOutcome,
  type StockRequest,
} from './stock-request.ts'

export interface Decision {
  /** In the order of the requests. */
  readonly outcomes: StockOutcome[]
  /** Nothing was decided on the requests, since so many holds are over that their end is enough for one commit. */
  readonly isPutOff: boolean
  /** What really changes a quantity or an order, in the same order. */
  readonly made: readonly Made[]
  /** Where there are requests about orders. */
  readonly orders: OrderChanges | undefined
  /** What is remembered of requests with a key. */
  readonly answers: readonly RememberedAnswer[]
}

const NO_ANSWERS: Answers = new Map()

/**
 * Decides on requests that are committed together, one after the other: what one finds is what those before it have
 * left. `found` are the entries of all pets that are named, as they are under the lock of the commit, `remembered` the
 * answers of all keys that are named, `ordersFound` what has to be known for requests about orders. Nothing else knows what is
 * allowed.
 */
export function decide(
  requests: readonly StockRequest[],
  found: ReadonlyMap<bigint, EntryState>,
  remembered = NO_ANSWERS,
  ordersFound?: OrdersFound,
): Decision {
  const stock = new ChangingStock(found)
  const orders = ordersFound === undefined ? undefined : new ChangingOrders(stock, ordersFound)
  const book = new AnswerBook(remembered)
  const isPutOff = ordersFound !== undefined && ordersFound.over.length >= MAX_HOLDS_ENDED
  const outcomes = (isPutOff ? [] : requests).map((request): StockOutcome => {
    const { idempotency } = request
    return idempotency === undefined
      ? outcomeOf(stock, orders, request)
      : book.once(request, idempotency, () => outcomeOf(stock, orders, request))
  })
  return { outcomes, isPutOff, made: stock.made, orders: orders?.changes, answers: book.added }
}

function outcomeOf(
  stock: ChangingStock,
  orders: ChangingOrders | undefined,
  request: StockRequest,
): ChangeOutcome {
  if (isAdjustment(request)) return adjust(stock, request)
  if (!isOrderRequest(request)) return set(stock, request)
  if (orders === undefined) throw new Error('a request about orders came without what there is of them')
  return orders.decide(request)
}

function set(stock: ChangingStock, wanted: QuantityChange): QuantityOutcome {
  const { petId, quantity, onlyIf } = wanted
  const item = stock.find(petId)
  if (item === undefined) return 'unknown_pet'
  const isAllowed =
    onlyIf === undefined ||
    onlyIf.some((state) => state.quantity === item.quantity && state.status === item.status)
  return isAllowed ? stock.set(item, quantity, wanted) : { conflict: item }
}

/** All or nothing: nothing is set before every change is known to be possible. */
function adjust(stock: ChangingStock, adjustment: Adjustment): AdjustmentOutcome {
  const items: InventoryItem[] = []
  const failures: ErrorDetail[] = []
  for (const [index, change] of adjustment.changes.entries()) {
    const { petId } = change
    const item = stock.find(petId)
    const failure = item === undefined ? noEntry(petId) : failureOf(change, item.quantity)
    if (failure !== undefined) failures.push({ index, petId, code: failure.code, message: failure.message })
    else if (item !== undefined) items.push(item)
  }
  if (failures.length > 0) return { failures }
  return {
    items: adjustment.changes.map((change, index) => {
      const item = items[index]
      if (item === undefined) throw new Error('a change without a failure has no entry')
      return stock.set(item, resultOf(change, item.quantity), adjustment)
    }),
  }
}

function resultOf(change: AdjustmentChange, quantity: number): number {
  return 'delta' in change ? quantity + change.delta : change.quantity
}

/** Why a change to an entry with this quantity cannot be made. */
function failureOf(
  change: AdjustmentChange,
  quantity: number,
): Pick<ErrorDetail, 'code' | 'message'> | undefined {
  const { petId, expected } = change
  if (expected !== undefined && expected !== quantity) {
    return {
      code: 'precondition_failed',
      message: `the quantity of petId ${petId} is ${quantity}, not ${expected} as expected; read it again and decide anew`,
    }
  }
  const result = resultOf(change, quantity)
  if ('delta' in change && result < 0) {
    return {
      code: 'insufficient_stock',
      message: `the quantity of petId ${petId} is ${quantity}, so ${-change.delta} cannot be taken away`,
    }
  }
  if ('delta' in change && result > MAX_QUANTITY) {
    return {
      code: 'invalid_request',
      message: `the quantity of petId ${petId} is ${quantity}, and with ${change.delta} more it would be above ${MAX_QUANTITY}`,
    }
  }
  return undefined
}
