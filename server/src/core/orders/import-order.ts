import type { ChangeOrigin } from '../stock/stock-request.ts'
import type { Order, OrderRow } from './order.ts'
import type { OrdersDraft } from './orders-draft.ts'

/**
 * Brings one order to what a row of a file says; gives the reason where that cannot be, and then nothing has changed. A
 * new one that is complete is of the past: it takes nothing from the shelf. A new one that is open reserves.
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
    if (obstacle === 'unknown_pet') return `an open order reserves stock, and there is no pet ${petId}`
    if (obstacle !== undefined) {
      const { available } = obstacle.shortage
      return `an open order reserves stock: of pet ${petId} ${available} are available, ${more} are needed`
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
    const outcome = orders.complete(known, by)
    if (typeof outcome === 'object' && 'shortage' in outcome) {
      return `order ${id} takes ${quantity} of pet ${petId}, and ${outcome.shortage.available} are in stock`
    }
    orders.change({ ...changed, state: 'complete' }, by)
  } else orders.change(changed, by)
  return undefined
}

/** What of a row cannot be, whatever is in stock. */
function contradiction({ petId, quantity, state }: Order, row: OrderRow): string | undefined {
  const order = `order ${row.id}`
  if (petId !== row.petId) return `${order} is for pet ${petId} and stays so, got pet ${row.petId}`
  if (state === 'cancelled' || state === 'expired') return `${order} is ${state} and stays so`
  if (state === 'complete' && !row.complete) return `${order} is complete and cannot be opened again`
  const isFixed = state === 'complete' || row.complete
  return isFixed && quantity !== row.quantity
    ? `${order} is of ${quantity}, and that stays so once it is complete, got ${row.quantity}`
    : undefined
}
