import type { Change } from '../data/history/change-log.ts'
import { REASON_WORDS } from '../data/reason-words.ts'
import type { Step } from '../ui/charts/step-geometry.ts'

/** How much of the chart shows what was before the oldest change. */
const LEAD = 0.04
const LEAST_LEAD_MS = 1_000

/** The history as a chart draws it: the earliest first, beginning with what was there before. */
export function stepsOf(changes: readonly Change[], until: number): readonly Step[] {
  const oldest = changes.at(-1)
  if (oldest === undefined) return []
  const lead = Math.max(LEAST_LEAD_MS, (until - oldest.at) * LEAD)
  const made = changes.map((change) => ({ at: change.at, quantity: change.after, note: noteOf(change) }))
  return [
    { at: oldest.at - lead, quantity: oldest.before, note: 'before the first change' },
    ...made.reverse(),
  ]
}

function noteOf({ keyName, keyId, reason }: Change): string {
  const who = `by ${keyName ?? keyId}`
  return reason === undefined ? who : `${REASON_WORDS[reason]} ${who}`
}
