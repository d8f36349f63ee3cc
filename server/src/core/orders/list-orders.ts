import { parseInt64 } from '../values/int64.ts'
import { type PageRequest, unknownCursor } from '../values/page-request.ts'
import type { Order, OrderState } from './order.ts'
import type { OrderStore } from './order-store.ts'

interface OrderPageRequest extends PageRequest {
  readonly state: OrderState | undefined
  readonly petId: bigint | undefined
}

/** A page of orders by id ascending, and the cursor of the next page if there is one. */
export async function listOrderPage(
  store: Pick<OrderStore, 'listOrders'>,
  { state, petId, limit, cursor }: OrderPageRequest,
): Promise<{ orders: readonly Order[]; next: string | undefined }> {
  const after = cursor === undefined ? undefined : parseInt64(cursor)
  if (cursor !== undefined && after === undefined) throw unknownCursor(cursor)
  const filter = {
    ...(state === undefined ? {} : { state }),
    ...(petId === undefined ? {} : { petId }),
    ...(after === undefined ? {} : { after }),
  }
  // One order more than the limit shows that there is a next page.
  const found = await store.listOrders(filter, limit + 1)
  const orders = found.slice(0, limit)
  return { orders, next: found.length > limit ? String(orders.at(-1)?.id) : undefined }
}
