import type { ChangeOrigin } from '../stock/command.ts'
import type { Order, OrderRow } from './order.ts'
import type { OrdersDraft } from './orders-draft.ts'

/**
 * Brings an order to what a row of a file says. Returns the reason if that is impossible; then nothing has changed. A new
 * order that is complete is in the past and takes nothing from the stock. A new order that is open reserves.
 */
export function importOrder(orders: OrdersDraft, row: OrderRow, by: ChangeOrigin): string | undefined {
  const { id, petId, quantity, complete } = row
  const known = orders.find(id)
  const refusal = known === undefined ? undefined : contradiction(known, row)
  if (refusal !== undefined) return refusal
  if (!complete) {
    if (quantity === 0) return 'an open order must be of 1 or more, got 0'
    const more = quantity - (known?.quantity ?? 0)
    const obstacle = orders.obstacle(petId, more)
    if (obstacle?.type === 'unknown_pet') return `an open order reserves stock, and there is no pet ${petId}`
    if (obstacle !== undefined) {
      return `an open order reserves stock: of pet ${petId} ${obstacle.available} are available, ${more} are needed`
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
      return `order ${id} takes ${quantity} of pet ${petId}, and ${outcome.available} are in stock`
    }
    orders.changeOrder({ ...changed, state: outcome.order.state }, by)
  } else orders.changeOrder(changed, by)
  return undefined
}

/** Why the order cannot become what the row says, whatever is in stock. */
function contradiction({ petId, quantity, state }: Order, row: OrderRow): string | undefined {
  const order = `order ${row.id}`
  if (petId !== row.petId) return `${order} is for pet ${petId}, which cannot change, got pet ${row.petId}`
  if (state !== 'open' && state !== 'complete') return `${order} is already ${state}`
  if (state === 'complete' && !row.complete) return `${order} is complete and cannot be opened again`
  const isFixed = state === 'complete' || row.complete
  return isFixed && quantity !== row.quantity
    ? `${order} is of ${quantity}, which cannot change once it is complete, got ${row.quantity}`
    : undefined
}
