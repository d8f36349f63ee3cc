import type { OrderTotals } from '../core/orders/order-store.ts'
import type { OrderChanges } from '../core/orders/orders-draft.ts'

/** Counts what was decided on orders, once it is on disk. */
export function countedTotals() {
  let totals: OrderTotals = { refused: 0, expired: 0 }
  return {
    add: (changes: OrderChanges | undefined): void => {
      if (changes === undefined) return
      const { refused, expired } = changes
      totals = { refused: totals.refused + refused, expired: totals.expired + expired }
    },
    read: (): OrderTotals => totals,
  }
}
