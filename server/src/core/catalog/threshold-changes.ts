import type { GroupCommit } from '../stock/group-commit.ts'
import type { Clock } from '../values/clock.ts'
import type { CatalogStore } from './catalog-store.ts'

export interface ThresholdParts {
  readonly store: Pick<CatalogStore, 'unappliedThresholds' | 'petsWithOldThreshold' | 'finishThresholdChange'>
  readonly commits: Pick<GroupCommit, 'run'>
  readonly clock: Clock
}

/** Other changes of these pets wait for the commit. */
const PETS_PER_COMMIT = 500

/**
 * Applies the threshold of a category to its pets, if some may lack it. Each commit uses the threshold that the category has at
 * that moment, so several runs may be in progress at once. After an interruption, another run continues.
 */
export async function applyThresholdOf(
  categoryId: bigint,
  { store, commits, clock }: ThresholdParts,
  keyId: string,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    const changeId = (await store.unappliedThresholds()).get(categoryId)
    if (changeId === undefined) return
    const petIds = await store.petsWithOldThreshold(categoryId)
    for (let start = 0; start < petIds.length; start += PETS_PER_COMMIT) {
      if (signal?.aborted) return
      const part = petIds.slice(start, start + PETS_PER_COMMIT)
      await commits.run({ type: 'apply_thresholds', petIds: part, keyId, at: clock() })
    }
    await store.finishThresholdChange(categoryId, changeId)
  }
}
