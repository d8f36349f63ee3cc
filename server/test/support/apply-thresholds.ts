import { applyThresholdOf, type ThresholdParts } from '../../src/core/catalog/threshold-changes.ts'
import { GroupCommit } from '../../src/core/stock/group-commit.ts'
import type { Store } from '../../src/store/store.ts'

export function groupCommit(store: Store): GroupCommit {
  return new GroupCommit({
    store,
    limits: { afterPendingChecks: (next) => setImmediate(next) },
    observers: [],
  })
}

/** Applies the threshold of a category as the operation does. */
export function applyThresholdIn(
  store: Store,
  categoryId: bigint,
  commits: ThresholdParts['commits'] = groupCommit(store),
): Promise<void> {
  return applyThresholdOf(categoryId, { store, commits, clock: () => 1 }, 'key_a')
}
