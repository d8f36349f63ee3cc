import type { ErrorDetail } from '../values/errors.ts'
import { AnswerBook, type Answers, type RememberedAnswer } from './idempotency.ts'
import { type EntryState, type InventoryItem, MAX_QUANTITY, noEntry } from './inventory.ts'
import {
  type Adjustment,
  type AdjustmentChange,
  type AdjustmentOutcome,
  type ChangeOrigin,
  type ChangeOutcome,
  isAdjustment,
  type QuantityChange,
  type QuantityOutcome,
  type StockOutcome,
  type StockRequest,
} from './stock-request.ts'

/** A change that is made: it is written to the stock and leaves a row in the log. */
export interface MadeChange {
  readonly petId: bigint
  readonly before: number
  readonly after: number
  readonly status: EntryState['status']
  readonly by: ChangeOrigin
  /** The index of the pet's change before this one among those that are made; null where it is the first. */
  readonly follows: number | null
  /** Whether it is the pet's last one: what the stock then is. */
  isLast: boolean
}

export interface Decision {
  /** In the order of the requests. */
  readonly outcomes: StockOutcome[]
  /** What really changes a quantity, in the same order. */
  readonly made: readonly MadeChange[]
  /** What is remembered of requests with a key. */
  readonly answers: readonly RememberedAnswer[]
}

const NO_ANSWERS: Answers = new Map()

/**
 * Decides on requests that are committed together, one after the other: what one finds is what those before it have
 * left. `found` are the entries of all pets that are named, as they are under the lock of the commit, `remembered` the
 * answers of all keys that are named. Nothing else knows what is allowed.
 */
export function decide(
  requests: readonly StockRequest[],
  found: ReadonlyMap<bigint, EntryState>,
  remembered = NO_ANSWERS,
): Decision {
  const stock = new ChangingStock(found)
  const book = new AnswerBook(remembered)
  const outcomes = requests.map((request): StockOutcome => {
    const { idempotency } = request
    return idempotency === undefined
      ? outcomeOf(stock, request)
      : book.once(request, idempotency, () => outcomeOf(stock, request))
  })
  return { outcomes, made: stock.made, answers: book.added }
}

function outcomeOf(stock: ChangingStock, request: StockRequest): ChangeOutcome {
  return isAdjustment(request) ? adjust(stock, request) : set(stock, request)
}

/** The entries as the changes so far have left them. */
class ChangingStock {
  readonly made: MadeChange[] = []
  readonly #found: ReadonlyMap<bigint, EntryState>
  /** The index of each pet's last change among those that are made. */
  readonly #latest = new Map<bigint, number>()

  constructor(found: ReadonlyMap<bigint, EntryState>) {
    this.#found = found
  }

  find(petId: bigint): InventoryItem | undefined {
    const entry = this.#found.get(petId)
    if (entry === undefined) return undefined
    const { status } = entry
    const latest = this.#latest.get(petId)
    const change = latest === undefined ? undefined : this.made[latest]
    return { petId, quantity: change === undefined ? entry.quantity : change.after, status }
  }

  set({ petId, quantity, status }: InventoryItem, after: number, by: ChangeOrigin): InventoryItem {
    if (!isQuantity(after)) throw new RangeError(`${after} is no quantity`)
    if (after !== quantity) {
      const follows = this.#latest.get(petId) ?? null
      const earlier = follows === null ? undefined : this.made[follows]
      if (earlier !== undefined) {
        if (earlier.by === by) throw new RangeError(`petId ${petId} is there twice in one request`)
        earlier.isLast = false
      }
      this.#latest.set(petId, this.made.length)
      this.made.push({ petId, before: quantity, after, status, by, follows, isLast: true })
    }
    return { petId, quantity: after, status }
  }
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

/** Callers are told long before: what comes so far without being one is a bug. */
function isQuantity(quantity: number): boolean {
  return Number.isInteger(quantity) && quantity >= 0 && quantity <= MAX_QUANTITY
}
