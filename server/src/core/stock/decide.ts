import { type CatalogChanges, type CatalogFound, ChangingCatalog } from '../catalog/changing-catalog.ts'
import {
  ChangingOrders,
  MAX_HOLDS_ENDED,
  type OrderChanges,
  type OrdersFound,
} from '../orders/changing-orders.ts'
import type { ErrorDetail } from '../values/errors.ts'
import { MAX_QUANTITY } from '../values/field.ts'
import { ChangingWebhooks, type WebhookChanges, type WebhooksFound } from '../webhooks/changing-webhooks.ts'
import { ChangingStock, type Made } from './changing-stock.ts'
import { AnswerBook, type Answers, type RememberedAnswer } from './idempotency.ts'
import { type FoundEntry, type InventoryItem, noEntry } from './inventory.ts'
import {
  type Adjustment,
  type AdjustmentChange,
  type AdjustmentOutcome,
  type ChangeOutcome,
  isAdjustment,
  isCategoryRequest,
  isOrderRequest,
  isPetRequest,
  isWebhookRequest,
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
  /** What really changes something, in the same order. */
  readonly made: readonly Made[]
  /** Of each pet of which another number is reserved than before. */
  readonly reserved: ReadonlyMap<bigint, number>
  /** Whether it is low, of each pet that has crossed its threshold. */
  readonly low: ReadonlyMap<bigint, boolean>
  /** Where there are requests about orders. */
  readonly orders: OrderChanges | undefined
  /** Where there are requests about the catalogue. */
  readonly catalog: CatalogChanges | undefined
  /** Where there are requests about webhooks. */
  readonly webhooks: WebhookChanges | undefined
  /** What is remembered of requests with a key. */
  readonly answers: readonly RememberedAnswer[]
}

/** What of a decision is written by both the commit of requests and an import. */
export type WrittenDecision = Pick<Decision, 'made' | 'reserved' | 'low' | 'orders' | 'catalog'>

/** What a commit finds under its locks beside the entries of all pets that are named. */
export interface FoundBeside {
  /** The answers of all keys that are named. */
  readonly answers?: Answers | undefined
  /** What has to be known for requests about orders. */
  readonly orders?: OrdersFound | undefined
  /** And for those about the catalogue. */
  readonly catalog?: CatalogFound | undefined
  /** And for those about webhooks. */
  readonly webhooks?: WebhooksFound | undefined
}

const NO_ANSWERS: Answers = new Map()

/**
 * Decides on requests that are committed together, one after the other: what one finds is what those before it have
 * left. Nothing else knows what is allowed.
 */
export function decide(
  requests: readonly StockRequest[],
  found: ReadonlyMap<bigint, FoundEntry>,
  beside: FoundBeside = {},
): Decision {
  const stock = new ChangingStock(found)
  const webhooks = beside.webhooks === undefined ? undefined : new ChangingWebhooks(beside.webhooks)
  const orders = beside.orders === undefined ? undefined : new ChangingOrders(stock, beside.orders)
  const catalog = beside.catalog === undefined ? undefined : new ChangingCatalog(stock, beside.catalog)
  const book = new AnswerBook(beside.answers ?? NO_ANSWERS)
  const isPutOff = beside.orders !== undefined && beside.orders.over.length >= MAX_HOLDS_ENDED
  const decideOne = (request: StockRequest): ChangeOutcome => {
    const outcome = outcomeOf(stock, orders, catalog, webhooks, request)
    stock.tellCrossings(request)
    return outcome
  }
  const outcomes = (isPutOff ? [] : requests).map((request): StockOutcome => {
    const { idempotency } = request
    return idempotency === undefined
      ? decideOne(request)
      : book.once(request, idempotency, () => decideOne(request))
  })
  return {
    ...{ outcomes, isPutOff, made: stock.made, reserved: stock.reserved, low: stock.low },
    ...{ orders: orders?.changes, catalog: catalog?.changes, webhooks: webhooks?.changes },
    answers: book.added,
  }
}

function outcomeOf(
  stock: ChangingStock,
  orders: ChangingOrders | undefined,
  catalog: ChangingCatalog | undefined,
  webhooks: ChangingWebhooks | undefined,
  request: StockRequest,
): ChangeOutcome {
  if (isAdjustment(request)) return adjust(stock, request)
  if (isOrderRequest(request)) {
    if (orders === undefined) throw new Error('a request about orders came without what there is of them')
    return orders.decide(request)
  }
  if (isPetRequest(request) || isCategoryRequest(request)) {
    if (catalog === undefined)
      throw new Error('a request about the catalogue came without what there is of it')
    return catalog.decide(request)
  }
  if (isWebhookRequest(request)) {
    if (webhooks === undefined) throw new Error('a request about webhooks came without what there is of them')
    return webhooks.decide(request)
  }
  return set(stock, request)
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
    if (item === undefined) {
      const { code, message } = noEntry(petId)
      failures.push({ index, petId, code, message })
      continue
    }
    const failure = failureOf(change, item.quantity)
    if (failure === undefined) items.push(item)
    else failures.push({ index, petId, ...failure })
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
): Omit<ErrorDetail, 'index' | 'petId'> | undefined {
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
      available: quantity,
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
