import type { OrderRow } from '../../src/core/orders/order.ts'
import type { TransferStore } from '../../src/core/transfer/transfer-store.ts'

/** Imports orders: all of them, or it throws. */
export async function addOrders(
  store: Pick<TransferStore, 'stageOrders'>,
  orders: readonly OrderRow[],
): Promise<void> {
  const staged = await store.stageOrders()
  try {
    await staged.add(orders.map((value, index) => ({ line: index + 2, value })))
    await staged.finishStaging(0)
    await staged.apply({ at: 1, keyId: 'importer', maxExamples: 1 })
  } finally {
    await staged.discard()
  }
}
