import type { CommandOf, OutcomeOf } from '../stock/command.ts'
import { withUpdate } from '../values/field.ts'
import { ORDER, ORDER_UPDATE, type Order, type OrderRow } from './order.ts'
import type { OrdersDraft } from './orders-draft.ts'

/** A new order that is complete is in the past and takes no stock. */
export function importOrder(
  orders: OrdersDraft,
  command: CommandOf<'import_order'>,
): OutcomeOf<'import_order'> {
  const { order: row } = command
  const existing = orders.find(row.id)
  const reason = (existing && findContradiction(existing, row)) ?? findMissingStock(orders, existing, row)
  if (reason !== undefined) return { type: 'invalid_order', reason }
  const { complete, ...fields } = row
  if (existing === undefined) {
    const order: Order = { ...fields, state: 'open', createdAt: orders.now, createdBy: command.keyId }
    const closing = { state: 'complete', closedAt: orders.now, closedBy: command.keyId } as const
    orders.add(complete ? { ...order, ...closing } : order, command)
    return { type: 'done', change: 'added' }
  }
  let current = existing
  if (existing.state === 'open' && complete) {
    const outcome = orders.completeIfAllowed(existing, command)
    if (outcome.type === 'insufficient_stock') {
      const problem = `order ${row.id} takes ${row.quantity} units of pet ${row.petId}, but ${outcome.available} are in stock`
      return { type: 'invalid_order', reason: problem }
    }
    current = outcome.order
  }
  // A field that the row lacks is cleared.
  const cleared = Object.fromEntries(Object.keys(ORDER_UPDATE).map((name) => [name, null]))
  const changed = orders.replaceOrder(withUpdate(ORDER, current, { ...cleared, ...fields }), command)
  return { type: 'done', change: changed === existing ? 'unchanged' : 'changed' }
}

/** The reason why the row contradicts the order, independent of the stock. */
function findContradiction({ petId, quantity, state }: Order, row: OrderRow): string | undefined {
  const orderText = `order ${row.id}`
  if (petId !== row.petId) return `${orderText} is for pet ${petId} and cannot change to pet ${row.petId}`
  if (state !== 'open' && state !== 'complete') return `${orderText} is already ${state}`
  if (state === 'complete' && !row.complete) return `${orderText} is complete and cannot be reopened`
  const isQuantityFixed = state === 'complete' || row.complete
  return isQuantityFixed && quantity !== row.quantity
    ? `${orderText} has quantity ${quantity}; a complete order must have the same quantity, got ${row.quantity}`
    : undefined
}

/** The reason why the units of an open order cannot be reserved. */
function findMissingStock(
  orders: OrdersDraft,
  existing: Order | undefined,
  { petId, quantity, complete }: OrderRow,
): string | undefined {
  if (complete) return undefined
  if (quantity === 0) return 'the quantity of an open order must be at least 1, got 0'
  const additionalUnits = quantity - (existing?.quantity ?? 0)
  const failure = orders.reservationFailure(petId, additionalUnits)
  if (failure === undefined) return undefined
  return failure.type === 'unknown_pet'
    ? `an open order reserves stock, but there is no pet ${petId}`
    : `an open order reserves stock: pet ${petId} has ${failure.available} available, ${additionalUnits} are needed`
}
