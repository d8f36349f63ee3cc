import type { PetstoreClient } from '@petstore/client'
import { useMemo } from 'react'
import { type HistorySource, useChangeHistory } from '../data/history/change-history.ts'
import { type Change, changeOf } from '../data/history/change-log.ts'
import { whyWords } from '../data/reason-words.ts'
import { agoWords, exactMomentWords } from '../data/time-words.ts'
import { useSession } from '../session/session-context.ts'
import { QuantityChange } from '../ui/changes.tsx'
import { useNow } from '../ui/hooks.ts'
import { href } from '../ui/navigation.ts'
import { RetryNotice } from '../ui/notices.tsx'

const SHOWN = 12

/** What was changed last, whichever the pet, and what is being changed right now. */
export function RecentChanges() {
  const { client, stock, feed } = useSession()
  const source = useMemo(() => sourceOf(client, feed.changes), [client, feed])
  const { history, log } = useChangeHistory(source)
  const now = useNow(15_000)
  const { changes, phase, failure } = log
  return (
    <section className="card" aria-labelledby="recent-title">
      <div className="card__header">
        <h2 id="recent-title">Recent changes</h2>
      </div>
      <div className="card__body">
        {phase === 'loading' && changes.length === 0 && (
          <div className="overview__loading" role="status" aria-label="Loading the recent changes">
            <span className="skeleton" />
            <span className="skeleton" />
            <span className="skeleton" />
          </div>
        )}
        {phase === 'ready' && changes.length === 0 && (
          <p className="muted">
            Nothing was changed yet. As soon as somebody corrects a quantity, it shows here.
          </p>
        )}
        {failure !== undefined && (
          <RetryNotice tone="caution" onRetry={() => void history.reload()}>
            {failure}
          </RetryNotice>
        )}
        <ol aria-label="Recent changes">
          {changes.slice(0, SHOWN).map((change) => (
            <Row key={keyOf(change)} change={change} name={stock.find(change.petId)?.name} now={now} />
          ))}
        </ol>
      </div>
    </section>
  )
}

interface RowProps {
  readonly change: Change
  readonly name: string | undefined
  readonly now: number
}

function Row({ change, name, now }: RowProps) {
  const { petId, before, after, at, keyId, keyName } = change
  const why = whyWords(change)
  return (
    <li className="recent__row">
      <a className="recent__pet" href={href({ view: 'pet', petId })}>
        {name ?? `Pet ${petId}`}
      </a>
      <QuantityChange before={before} after={after} />
      <span className="recent__note" title={why}>
        <time dateTime={new Date(at).toISOString()} title={exactMomentWords(at)}>
          {agoWords(at, now)}
        </time>{' '}
        · {keyName ?? keyId}
        {why !== undefined && ` · ${why}`}
      </span>
    </li>
  )
}

function keyOf({ petId, at, before, after }: Change): string {
  return `${petId} ${at} ${before} ${after}`
}

function sourceOf(client: PetstoreClient, live: HistorySource['live']): HistorySource {
  return {
    live,
    load: async (cursor, signal) => {
      const { items, next } = await client.inventory.changes({ limit: SHOWN, cursor, signal })
      return { items: items.map(changeOf), next }
    },
  }
}
