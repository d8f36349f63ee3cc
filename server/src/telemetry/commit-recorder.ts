import type { Store } from '../core/store.ts'
import type { Metrics } from './metrics.ts'

/** The same store, and every commit of updates is counted with its size and duration. */
export function recordCommits(store: Store, metrics: Metrics): Store {
  return {
    ...store,
    setQuantities: async (changes) => {
      const began = performance.now()
      const outcomes = await store.setQuantities(changes)
      metrics.countCommit(changes.length, performance.now() - began)
      return outcomes
    },
  }
}
