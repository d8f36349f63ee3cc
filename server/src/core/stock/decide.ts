import { type CatalogChanges, CatalogDraft, type LockedCatalog } from '../catalog/catalog-draft.ts'
import {
  type LockedOrders,
  MAX_EXPIRED_HOLDS,
  type OrderChanges,
  OrdersDraft,
} from '../orders/orders-draft.ts'
import type { ErrorDetail } from '../values/errors.ts'
import { type LockedWebhooks, type WebhookChanges, WebhooksDraft } from '../webhooks/webhooks-draft.ts'
import { AnswerBook, type Answers, type RememberedAnswer } from './idempotency.ts'
import { type InventoryItem, type LockedEntry, MAX_QUANTITY, noEntry } from './inventory.ts'
import { type LogRecord, StockDraft } from './stock-draft.ts'
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
  readonly records: readonly LogRecord[]
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
export type WrittenDecision = Pick<Decision, 'records' | 'reserved' | 'low' | 'orders' | 'catalog'>

/** What a commit finds under its locks locked the entries of all pets that are named. */
export interface LockedState {
  /** The answers of all keys that are named. */
  readonly answers?: Answers | undefined
  /** What has to be known for requests about orders. */
  readonly orders?: LockedOrders | undefined
  /** And for those about the catalogue. */
  readonly catalog?: LockedCatalog | undefined
  /** And for those about webhooks. */
  readonly webhooks?: LockedWebhooks | undefined
}

const NO_ANSWERS: Answers = new Map()

/**
 * Decides on requests that are committed together, one after the other: what one finds is what those before it have
 * left. Nothing else knows what is allowed.
 */
export function decide(
  requests: readonly StockRequest[],
  found: ReadonlyMap<bigint, LockedEntry>,
  locked: LockedState = {},
): Decision {
  const stock = new StockDraft(found)
  const webhooks = locked.webhooks === undefined ? undefined : new WebhooksDraft(locked.webhooks)
  const orders = locked.orders === undefined ? undefined : new OrdersDraft(stock, locked.orders)
  const catalog = locked.catalog === undefined ? undefined : new CatalogDraft(stock, locked.catalog)
  const book = new AnswerBook(locked.answers ?? NO_ANSWERS)
  const isPutOff = locked.orders !== undefined && locked.orders.expiredHolds.length >= MAX_EXPIRED_HOLDS
  const decideOne = (request: StockRequest): ChangeOutcome => {
    const outcome = outcomeOf(stock, orders, catalog, webhooks, request)
    stock.logThresholdCrossings(request)
    return outcome
  }
  const outcomes = (isPutOff ? [] : requests).map((request): StockOutcome => {
    const { idempotency } = request
    return idempotency === undefined
      ? decideOne(request)
      : book.once(request, idempotency, () => decideOne(request))
  })
  return {
    ...{ outcomes, isPutOff, records: stock.records, reserved: stock.reserved, low: stock.low },
    ...{ orders: orders?.changes, catalog: catalog?.changes, webhooks: webhooks?.changes },
    answers: book.added,
  }
}

function outcomeOf(
  stock: StockDraft,
  orders: OrdersDraft | undefined,
  catalog: CatalogDraft | undefined,
  webhooks: WebhooksDraft | undefined,
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

function set(stock: StockDraft, wanted: QuantityChange): QuantityOutcome {
  const { petId, quantity, onlyIf } = wanted
  const item = stock.find(petId)
  if (item === undefined) return 'unknown_pet'
  const isAllowed =
    onlyIf === undefined ||
    onlyIf.some((state) => state.quantity === item.quantity && state.status === item.status)
  return isAllowed ? stock.set(item, quantity, wanted) : { conflict: item }
}

/** All or nothing: nothing is set before every change is known to be possible. */
function adjust(stock: StockDraft, adjustment: Adjustment): AdjustmentOutcome {
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
