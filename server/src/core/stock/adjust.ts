import type { ErrorDetail } from '../values/errors.ts'
import { MAX_QUANTITY } from '../values/field.ts'
import type { AdjustmentChange, CommandOf, OutcomeOf } from './command.ts'
import { type FactQuestion, latenessOf } from './facts.ts'
import { availableText, type EntryState, entryNotFound, type LockedEntry } from './inventory.ts'
import { assertQuantity, availableOf, type PlannedFact, type StockDraft } from './stock-draft.ts'

/** The rules of one line fail with these codes because of the state of the stock, so the line can be left out. */
const SKIPPABLE = new Set(['not_found', 'insufficient_stock', 'precondition_failed'])

/** Changes nothing if any of the changes fails, unless those that fail are to be skipped. */
export function adjust(stock: StockDraft, command: CommandOf<'adjust'>): OutcomeOf<'adjust'> {
  const { changes, occurredAt, at, note, orderId } = command
  const petIds = changes.flatMap(({ petId }) => petId ?? [])
  const time = occurredAt ?? stock.timeOfNow(at, petIds)
  if (occurredAt !== undefined) {
    stock.facts.require(questionsAbout(stock, command, occurredAt))
    const lateness = latenessOf(stock.facts, occurredAt, at)
    if (lateness !== undefined) return lateness
  }
  const plans: PlannedFact[] = []
  const failures: ErrorDetail[] = []
  for (const [index, change] of changes.entries()) {
    const { petId } = change
    const plan = planChange(stock, command, change, time)
    if ('code' in plan) failures.push({ index, ...(petId === undefined ? {} : { petId }), ...plan })
    else plans.push(plan)
  }
  const mustSkip = command.onConflict === 'skip' && plans.length > 0
  if (failures.some(({ code }) => !mustSkip || !SKIPPABLE.has(code))) return { type: 'refused', failures }
  const document = stock.openDocument({ by: command, occurredAt: time, note, orderId })
  const items = plans.map((plan) => stock.record(document, plan))
  return { type: 'done', document, items, skipped: failures }
}

function questionsAbout(
  stock: StockDraft,
  { changes }: CommandOf<'adjust'>,
  time: number,
): readonly FactQuestion[] {
  const questions: FactQuestion[] = [{ type: 'history_start' }]
  for (const { petId, quantity } of changes) {
    if (petId === undefined || quantity === undefined) continue
    const entry = stock.findEntry(petId)
    if (entry !== undefined && !isBeforeCount(entry, time) && hasMovedAfter(entry, time)) {
      questions.push({ type: 'later_units', petId, time })
    }
  }
  return questions
}

type Failure = Omit<ErrorDetail, 'index' | 'petId'>

function planChange(
  stock: StockDraft,
  { keepReserved = false, onlyIf }: CommandOf<'adjust'>,
  change: AdjustmentChange,
  time: number,
): PlannedFact | Failure {
  const { petId, barcode, expected, delta, quantity: counted } = change
  if (petId === undefined) return { code: 'not_found', message: `no pet has the barcode ${barcode}` }
  const entry = stock.findEntry(petId)
  if (entry === undefined) return { code: 'not_found', message: entryNotFound(petId).message }
  const { quantity } = entry
  const conflict = conditionFailure(petId, entry, onlyIf) ?? expectationFailure(petId, quantity, expected)
  if (conflict !== undefined) return conflict
  const plan =
    delta === undefined
      ? planCount(stock, petId, counted, entry, time)
      : planMovement(petId, entry, delta, time)
  if (!keepReserved) return plan
  const after = 'code' in plan ? quantity + (delta ?? 0) : plan.after
  return reservedFailure(petId, entry, after) ?? plan
}

/** Whether the latest count was made after this time, so that it includes a fact of this time. */
export function isBeforeCount({ countedAt }: LockedEntry, time: number): boolean {
  return countedAt !== null && time < countedAt
}

function hasMovedAfter({ movedAt }: LockedEntry, time: number): boolean {
  return movedAt !== null && movedAt > time
}

/** Units come in or, if `delta` is negative, go out. A count that was made after that has already seen it. */
export function planMovement(
  petId: bigint,
  entry: LockedEntry,
  delta: number,
  time: number,
  wasCounted = isBeforeCount(entry, time),
): PlannedFact | Failure {
  const { quantity } = entry
  const statement = { type: 'movement', delta } as const
  if (wasCounted) return { petId, after: quantity, statement, effect: 'already_counted' }
  return (
    quantityFailure(petId, quantity, delta) ?? {
      petId,
      after: quantity + delta,
      statement,
      effect: 'applied',
    }
  )
}

/** The stock is what was counted, plus all movements since. */
function planCount(
  stock: StockDraft,
  petId: bigint,
  counted: number,
  entry: LockedEntry,
  time: number,
): PlannedFact | Failure {
  assertQuantity(counted)
  const statement = { type: 'count', counted } as const
  if (isBeforeCount(entry, time)) {
    return { petId, after: entry.quantity, statement, effect: 'superseded' }
  }
  const laterUnits = hasMovedAfter(entry, time) ? stock.laterUnits(petId, time) : 0
  return (
    quantityFailure(petId, counted, laterUnits) ?? {
      petId,
      after: counted + laterUnits,
      statement,
      effect: 'applied',
    }
  )
}

function conditionFailure(
  petId: bigint,
  { quantity, status }: LockedEntry,
  onlyIf: readonly EntryState[] | undefined,
): Failure | undefined {
  if (
    onlyIf === undefined ||
    onlyIf.some((state) => state.quantity === quantity && state.status === status)
  ) {
    return undefined
  }
  return {
    code: 'precondition_failed',
    message: `the entry of petId ${petId} is not in the state that If-Match names: its quantity is ${quantity} and its status ${status}; read the entry again before you retry`,
  }
}

function expectationFailure(
  petId: bigint,
  quantity: number,
  expected: number | undefined,
): Failure | undefined {
  if (expected === undefined || expected === quantity) return undefined
  return {
    code: 'precondition_failed',
    message: `the quantity of petId ${petId} is ${quantity}, not ${expected} as expected; read it again before you retry`,
  }
}

/** Why the units cannot be added to the quantity; `undefined` if they can. */
export function quantityFailure(petId: bigint, quantity: number, delta: number): Failure | undefined {
  const newQuantity = quantity + delta
  if (newQuantity < 0) {
    return {
      code: 'insufficient_stock',
      message: `the quantity of petId ${petId} is ${quantity}, so ${-delta} cannot be taken away`,
      available: quantity,
    }
  }
  if (newQuantity > MAX_QUANTITY) {
    return {
      code: 'invalid_request',
      message: `the quantity of petId ${petId} is ${quantity}, and with ${delta} more it would be above ${MAX_QUANTITY}`,
    }
  }
  return undefined
}

/** The failure if the change would take units that open orders reserve. A change that takes no units never fails. */
function reservedFailure(petId: bigint, entry: LockedEntry, after: number): Failure | undefined {
  const { quantity, reserved } = entry
  const taken = quantity - after
  const available = availableOf(entry)
  if (taken <= 0 || taken <= available) return undefined
  return {
    code: 'insufficient_stock',
    message: `${availableText(petId, available)}, because open orders reserve ${reserved} of ${quantity}; ${taken} cannot be taken away`,
    available,
  }
}
