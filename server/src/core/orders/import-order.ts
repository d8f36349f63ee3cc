import type { ChangeOrigin } from '../stock/command.ts'
import type { Order, OrderRow } from './order.ts'
import type { OrdersDraft } from './orders-draft.ts'

/**
 * Applies a row of a file. Returns the reason if the row is refused, and changes nothing then. A new order that is complete
 * was fulfilled in the past and takes no stock. A new order that is open reserves stock.
 */
export function importOrder(orders: OrdersDraft, row: OrderRow, by: ChangeOrigin): string | undefined {
  const { id, petId, quantity, complete } = row
  const known = orders.find(id)
  const refusal = known === undefined ? undefined : contradiction(known, row)
  if (refusal !== undefined) return refusal
  if (!complete) {
    if (quantity === 0) return 'the quantity of an open order must be at least 1, got 0'
    const more = quantity - (known?.quantity ?? 0)
    const obstacle = orders.obstacle(petId, more)
    if (obstacle?.type === 'unknown_pet') return `an open order reserves stock, but there is no pet ${petId}`
    if (obstacle !== undefined) {
      return `an open order reserves stock: pet ${petId} has ${obstacle.available} available, ${more} are needed`
    }
  }
  const shipDate = row.shipDate === undefined ? {} : { shipDate: row.shipDate }
  if (known === undefined) {
    const state = complete ? 'complete' : 'open'
    orders.add({ id, petId, quantity, state, createdAt: orders.now, ...shipDate }, by)
    return undefined
  }
  const { shipDate: _, ...rest } = known
  const changed = { ...rest, quantity, ...shipDate }
  if (known.state === 'open' && complete) {
    const outcome = orders.completeOrder(known, by)
    if (outcome.type === 'insufficient_stock') {
      return `order ${id} takes ${quantity} units of pet ${petId}, but ${outcome.available} are in stock`
    }
    orders.changeOrder({ ...changed, state: outcome.order.state }, by)
  } else orders.changeOrder(changed, by)
  return undefined
}

/** The reason why the row contradicts the order, independent of the stock. */
function contradiction({ petId, quantity, state }: Order, row: OrderRow): string | undefined {
  const order = `order ${row.id}`
  if (petId !== row.petId) return `${order} is for pet ${petId} and cannot change to pet ${row.petId}`
  if (state !== 'open' && state !== 'complete') return `${order} is already ${state}`
  if (state === 'complete' && !row.complete) return `${order} is complete and cannot be reopened`
  const isFixed = state === 'complete' || row.complete
  return isFixed && quantity !== row.quantity
    ? `the quantity of ${order} is ${quantity} and cannot change once it is complete, got ${row.quantity}`
    : undefined
}
