import type { ErrorDetail } from '../values/errors.ts'
import { MAX_QUANTITY } from '../values/field.ts'
import type { AdjustmentChange, CommandOf, OutcomeOf } from './command.ts'
import { availableText, entryNotFound, type LockedEntry } from './inventory.ts'
import { toFailure } from './refusal.ts'
import { availableOf, type StockDraft } from './stock-draft.ts'

export function setQuantity(
  stock: StockDraft,
  command: CommandOf<'set_quantity'>,
): OutcomeOf<'set_quantity'> {
  const { petId, onlyIf } = command
  const entry = stock.findEntry(petId)
  if (entry === undefined) return { type: 'unknown_pet' }
  const { quantity, status } = entry
  const isAllowed =
    onlyIf === undefined || onlyIf.some((state) => state.quantity === quantity && state.status === status)
  return isAllowed
    ? { type: 'done', item: stock.setQuantity(petId, command.quantity, command) }
    : { type: 'conflict', item: { petId, quantity, status } }
}

/** Changes nothing if any of the changes fails. */
export function adjust(stock: StockDraft, command: CommandOf<'adjust'>): OutcomeOf<'adjust'> {
  const failures: ErrorDetail[] = []
  for (const [index, change] of command.changes.entries()) {
    const { petId } = change
    const entry = stock.findEntry(petId)
    if (entry === undefined) {
      failures.push(toFailure(entryNotFound(petId), index, petId))
      continue
    }
    const failure =
      expectationFailure(change, entry.quantity) ??
      (command.keepReserved ? reservedFailure(change, entry) : undefined) ??
      quantityFailure(change, entry.quantity)
    if (failure !== undefined) failures.push({ index, petId, ...failure })
  }
  if (failures.length > 0) return { type: 'refused', failures }
  const items = command.changes.map((change) => {
    const { quantity } = stock.requireEntry(change.petId)
    return stock.setQuantity(change.petId, quantityAfter(change, quantity), command)
  })
  return { type: 'done', items }
}

function quantityAfter(change: AdjustmentChange, quantity: number): number {
  return change.delta === undefined ? change.quantity : quantity + change.delta
}

type Failure = Omit<ErrorDetail, 'index' | 'petId'>

function expectationFailure({ petId, expected }: AdjustmentChange, quantity: number): Failure | undefined {
  if (expected === undefined || expected === quantity) return undefined
  return {
    code: 'precondition_failed',
    message: `the quantity of petId ${petId} is ${quantity}, not ${expected} as expected; read it again before you retry`,
  }
}

function quantityFailure(change: AdjustmentChange, quantity: number): Failure | undefined {
  const { petId, delta } = change
  const newQuantity = quantityAfter(change, quantity)
  if (delta !== undefined && newQuantity < 0) {
    return {
      code: 'insufficient_stock',
      message: `the quantity of petId ${petId} is ${quantity}, so ${-delta} cannot be taken away`,
      available: quantity,
    }
  }
  if (delta !== undefined && newQuantity > MAX_QUANTITY) {
    return {
      code: 'invalid_request',
      message: `the quantity of petId ${petId} is ${quantity}, and with ${delta} more it would be above ${MAX_QUANTITY}`,
    }
  }
  return undefined
}

/** The failure if the change would take units that open orders reserve. A change that takes no units never fails. */
function reservedFailure(change: AdjustmentChange, entry: LockedEntry): Failure | undefined {
  const { quantity, reserved } = entry
  const taken = quantity - quantityAfter(change, quantity)
  const available = availableOf(entry)
  if (taken <= 0 || taken <= available) return undefined
  return {
    code: 'insufficient_stock',
    message: `${availableText(change.petId, available)}, because open orders reserve ${reserved} of ${quantity}; ${taken} cannot be taken away`,
    available,
  }
}
