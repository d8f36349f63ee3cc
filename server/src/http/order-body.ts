import type { Static } from 'typebox'
import type { Order } from '../core/orders/order.ts'
import type { Order as OrderResource } from './resources.ts'

/** An order as callers see it. */
export function orderBody(order: Order): Static<typeof OrderResource> {
  const { id, petId, quantity, shipDate, state, createdAt, expiresAt } = order
  return {
    ...{ id, petId, quantity },
    ...(shipDate === undefined ? {} : { shipDate: isoTime(shipDate) }),
    ...{ complete: state === 'complete', state, createdAt: isoTime(createdAt) },
    ...(expiresAt === undefined ? {} : { expiresAt: isoTime(expiresAt) }),
  }
}

function isoTime(time: number): string {
  return new Date(time).toISOString()
}
