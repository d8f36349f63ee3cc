import { useMemo } from 'react'
import type { Change } from '../data/history/change-log.ts'
import { momentWords } from '../data/time-words.ts'
import { wholeNumber } from '../ui/charts/quantity-axis.ts'
import { StepChart } from '../ui/charts/step-chart.tsx'
import { stepsOf } from './history-steps.ts'

interface Props {
  /** Newest first. */
  readonly changes: readonly Change[]
  /** Whether there are older ones that are not loaded. */
  readonly hasOlder: boolean
  readonly now: number
}

/** The history as a picture, and in one sentence for those who do not see it. */
export function HistoryChart({ changes, hasOlder, now }: Props) {
  const newest = changes[0]
  const until = Math.max(now, newest?.at ?? now)
  const steps = useMemo(() => stepsOf(changes, until), [changes, until])
  const first = steps[1]
  if (first === undefined) return null
  const quantities = steps.map(({ quantity }) => quantity)
  return (
    <figure className="history-chart">
      <StepChart name="Quantity over time" steps={steps} until={until} />
      <figcaption className="history-chart__words number">
        {countWords(changes.length, hasOlder)} since {momentWords(first.at)}: lowest{' '}
        {wholeNumber(Math.min(...quantities))}, highest {wholeNumber(Math.max(...quantities))}, now{' '}
        {wholeNumber(quantities.at(-1) ?? 0)}.
      </figcaption>
    </figure>
  )
}

function countWords(count: number, hasOlder: boolean): string {
  const changes = count === 1 ? 'change' : 'changes'
  return hasOlder ? `The last ${wholeNumber(count)} ${changes},` : `${wholeNumber(count)} ${changes}`
}
