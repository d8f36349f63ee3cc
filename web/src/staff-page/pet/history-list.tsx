import { useState } from 'react'
import type { ChangeHistory, HistorySnapshot } from '../data/history/change-history.ts'
import type { Change } from '../data/history/change-log.ts'
import { whyWords } from '../data/reason-words.ts'
import { Moment, QuantityChange } from '../ui/changes.tsx'

interface Props {
  readonly history: ChangeHistory
  readonly log: HistorySnapshot
  readonly now: number
}

const PAGE = 15

/** Who changed it, when, what for, from what to what. */
export function HistoryList({ history, log, now }: Props) {
  const [shown, setShown] = useState(PAGE)
  const { changes, next, isLoadingOlder } = log
  const showMore = () => {
    setShown(shown + PAGE)
    if (shown + PAGE > changes.length) void history.loadOlder()
  }
  return (
    <>
      <table className="table history-table">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who and why</th>
            <th scope="col" className="table__number">
              Change
            </th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, shown).map((change) => (
            <HistoryRow key={keyOf(change)} change={change} now={now} />
          ))}
        </tbody>
      </table>
      {(shown < changes.length || next !== undefined) && (
        <button type="button" className="button history-more" onClick={showMore} disabled={isLoadingOlder}>
          {isLoadingOlder ? 'Loading …' : 'Show more'}
        </button>
      )}
    </>
  )
}

function HistoryRow({ change, now }: { readonly change: Change; readonly now: number }) {
  const { at, before, after, keyId, keyName } = change
  const why = whyWords(change)
  return (
    <tr>
      <td>
        <Moment at={at} now={now} />
      </td>
      <td className="history-table__who">
        {keyName ?? keyId}
        {why !== undefined && <span className="history-table__why">{why}</span>}
      </td>
      <td className="table__number">
        <QuantityChange before={before} after={after} />
      </td>
    </tr>
  )
}

function keyOf({ at, keyId, before, after }: Change): string {
  return `${at} ${keyId} ${before} ${after}`
}
