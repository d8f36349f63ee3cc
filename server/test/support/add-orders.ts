import type { OrderRow } from '../../src/core/orders/order.ts'
import type { Store } from '../../src/store/store.ts'

/** Imports orders: all of them, or it throws. */
export async function addOrders(
  store: Pick<Store, 'changeInOneTransaction'>,
  orders: readonly OrderRow[],
): Promise<void> {
  await store.changeInOneTransaction(async (change) => {
    const origin = { keyId: 'importer', at: 1 }
    const results = await change(orders.map((order) => ({ type: 'import_order', order, ...origin })))
    for (const result of results) if (result.type === 'invalid_order') throw new Error(result.reason)
  })
}
