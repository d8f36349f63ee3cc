import { memo } from 'react'
import type { Change } from '../data/history/change-log.ts'
import { whyWords } from '../data/reason-words.ts'
import { Moment, QuantityChange } from '../ui/changes.tsx'
import { href } from '../ui/navigation.ts'

interface Props {
  readonly change: Change
  readonly name: string | undefined
  readonly now: number
}

export const ActivityRow = memo(function ActivityRow({ change, name, now }: Props) {
  const { petId, before, after, at, keyId, keyName } = change
  return (
    <li className="activity-row">
      <span className="activity-row__when">
        <Moment at={at} now={now} />
      </span>
      <a className="activity-row__pet" href={href({ view: 'pet', petId })}>
        {name ?? `Pet ${petId}`}
      </a>
      <span className="activity-row__change">
        <QuantityChange before={before} after={after} />
      </span>
      <span className="activity-row__why">{whyWords(change)}</span>
      <span className="activity-row__who">{keyName ?? keyId}</span>
    </li>
  )
})
