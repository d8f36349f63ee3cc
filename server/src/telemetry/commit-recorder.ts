import type { StockStore } from '../core/stock/stock-store.ts'
import type { Metrics } from './metrics.ts'

/** Sets quantities in the store, and every commit is counted with its size and duration. */
export function recordCommits(
  store: Pick<StockStore, 'setQuantities'>,
  metrics: Metrics,
): StockStore['setQuantities'] {
  return async (changes) => {
    const began = performance.now()
    const outcomes = await store.setQuantities(changes)
    metrics.countCommit(changes.length, performance.now() - began)
    return outcomes
  }
}
