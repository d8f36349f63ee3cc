import { useState } from 'react'
import type { ChangeHistory, HistorySnapshot } from '../changes/change-history.ts'
import { Moment } from '../changes/moment.tsx'
import { QuantityChange } from '../changes/quantity-change.tsx'

interface Props {
  readonly history: ChangeHistory
  readonly log: HistorySnapshot
  readonly now: number
}

const PAGE = 15

/** Who changed it, when, from what to what. */
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
            <th scope="col">Who</th>
            <th scope="col" className="table__number">
              Change
            </th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, shown).map(({ at, before, after, keyId, keyName }) => (
            <tr key={`${at} ${keyId} ${before} ${after}`}>
              <td>
                <Moment at={at} now={now} />
              </td>
              <td className="history-table__who">{keyName ?? keyId}</td>
              <td className="table__number">
                <QuantityChange before={before} after={after} />
              </td>
            </tr>
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
