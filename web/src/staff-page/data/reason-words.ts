import type { Adjustment, RecordedReason } from '@petstore/client'

export const REASON_WORDS: Readonly<Record<RecordedReason, string>> = {
  received: 'Received',
  returned: 'Returned',
  sold: 'Sold',
  damaged: 'Damaged',
  lost: 'Lost',
  counted: 'Counted',
  corrected: 'Corrected',
  correction: 'Undone',
}

/** The reason of a change, such as `Sold · order 17`; `undefined` if it has none. */
export function whyWords({
  reason,
  reference,
}: Pick<Adjustment, 'reason' | 'reference'>): string | undefined {
  if (reason === undefined) return undefined
  return reference === undefined ? REASON_WORDS[reason] : `${REASON_WORDS[reason]} · ${reference}`
}
