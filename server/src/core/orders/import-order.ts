import type { ChangeOrigin } from '../stock/change-origin.ts'
import { withUpdate } from '../values/field.ts'
import { ORDER, ORDER_UPDATE, type Order, type OrderRow } from './order.ts'
import type { OrdersDraft } from './orders-draft.ts'

/** Applies a row of a file, or returns the reason to refuse it. A new order that is complete takes no stock. */
export function importOrder(orders: OrdersDraft, row: OrderRow, by: ChangeOrigin): string | undefined {
  const { id, petId, quantity, complete } = row
  const existing = orders.find(id)
  const contradiction = existing === undefined ? undefined : findContradiction(existing, row)
  if (contradiction !== undefined) return contradiction
  if (!complete) {
    if (quantity === 0) return 'the quantity of an open order must be at least 1, got 0'
    const additionalUnits = quantity - (existing?.quantity ?? 0)
    const failure = orders.reservationFailure(petId, additionalUnits)
    if (failure?.type === 'unknown_pet') return `an open order reserves stock, but there is no pet ${petId}`
    if (failure !== undefined) {
      return `an open order reserves stock: pet ${petId} has ${failure.available} available, ${additionalUnits} are needed`
    }
  }
  const { complete: _, ...fields } = row
  if (existing === undefined) {
    const order: Order = { ...fields, state: 'open', createdAt: orders.now, createdBy: by.keyId }
    orders.add(
      complete ? { ...order, state: 'complete', closedAt: orders.now, closedBy: by.keyId } : order,
      by,
    )
    return undefined
  }
  let current = existing
  if (existing.state === 'open' && complete) {
    const outcome = orders.completeIfAllowed(existing, by)
    if (outcome.type === 'insufficient_stock') {
      return `order ${id} takes ${quantity} units of pet ${petId}, but ${outcome.available} are in stock`
    }
    current = outcome.order
  }
  // A field that the row lacks is cleared.
  const cleared = Object.fromEntries(Object.keys(ORDER_UPDATE).map((name) => [name, null]))
  orders.replaceOrder(withUpdate(ORDER, current, { ...cleared, ...fields }), by)
  return undefined
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
