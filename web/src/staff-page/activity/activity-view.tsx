import { useEffect, useMemo, useState } from 'react'
import { useHash } from '../../shared/hash-navigation.ts'
import { type HistorySnapshot, useChangeHistory } from '../data/history/change-history.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { useDebounced, useNow } from '../ui/hooks.ts'
import { href, routeOf } from '../ui/navigation.ts'
import { RetryNotice } from '../ui/notices.tsx'
import {
  type ActivityFilter,
  fromAddress,
  isFilteringActivity,
  NO_ACTIVITY_FILTER,
  queryOf,
  toAddress,
} from './activity-filter.ts'
import { ActivityFilters } from './activity-filters.tsx'
import { ActivityRow } from './activity-row.tsx'
import { activitySource } from './activity-source.ts'
import './activity.css'

/** Whoever types is not searched for at every letter: a search is a request. */
const SEARCH_AFTER_MS = 300

/** Everything that happened to the stock: who changed what, when and why, as it happens. */
export function ActivityView() {
  const { client, stock, feed } = useSession()
  const route = routeOf(useHash())
  const [filter, setFilter] = useState(() => fromAddress('query' in route ? route.query : undefined))
  const [keyNames] = useState(() => new Map<string, string>())
  const asked = useDebounced(filter, SEARCH_AFTER_MS)
  const source = useMemo(
    () => activitySource(client, feed.changes, queryOf(asked), keyNames),
    [client, feed, asked, keyNames],
  )
  const { history, log } = useChangeHistory(source)
  const now = useNow(15_000)
  // Names that come later are drawn when they are there.
  useStock()
  useEffect(() => {
    const address = href({ view: 'activity', query: toAddress(asked) })
    if (location.hash.startsWith('#/activity') && location.hash !== address) {
      window.history.replaceState(window.history.state, '', address)
    }
  }, [asked])
  const { changes, phase, failure, next, isLoadingOlder } = log
  const change = (changed: Partial<ActivityFilter>) => setFilter({ ...filter, ...changed })
  const isFiltered = isFilteringActivity(asked)
  return (
    <section className="view view--list activity" aria-label="Activity">
      <h1>Activity</h1>
      <ActivityFilters
        filter={filter}
        people={[...new Set(keyNames.values())].sort()}
        onChange={change}
        onClear={() => setFilter(NO_ACTIVITY_FILTER)}
      />
      <p className="activity__line muted number" role="status">
        {countWords(log, isFiltered)}
      </p>
      <div className="card">
        {phase === 'loading' && changes.length === 0 && (
          <div className="list__loading" role="status" aria-label="Loading the changes">
            <span className="skeleton" />
            <span className="skeleton" />
            <span className="skeleton" />
          </div>
        )}
        {failure !== undefined && (
          <RetryNotice tone="negative" onRetry={() => void history.reload()}>
            {failure}
          </RetryNotice>
        )}
        <ol aria-label="Changes">
          {changes.map((one) => (
            <ActivityRow
              key={`${one.petId} ${one.at} ${one.before} ${one.after} ${one.keyId}`}
              change={one}
              name={stock.find(one.petId)?.name}
              now={now}
            />
          ))}
        </ol>
        {phase === 'ready' && changes.length === 0 && (
          <div className="empty">
            <p className="empty__title">{emptyTitle(isFiltered, next !== undefined)}</p>
            <p>{isFiltered ? noneWords(asked) : 'As soon as somebody changes a quantity, it shows here.'}</p>
          </div>
        )}
        {next !== undefined && (
          <button
            type="button"
            className="button list__more"
            aria-disabled={isLoadingOlder}
            onClick={() => void history.loadOlder()}
          >
            {isLoadingOlder ? 'Loading …' : changes.length === 0 ? 'Look further back' : 'Show more'}
          </button>
        )}
      </div>
    </section>
  )
}

function noneWords({ who, from, to }: ActivityFilter): string {
  if (from !== '' && to !== '' && from > to)
    return '“From” is after “To”: choose the days the other way round.'
  return `No change that was looked at fits.${who === '' ? '' : ' A name has to be written as the key has it.'}`
}

function emptyTitle(isFiltered: boolean, hasMore: boolean): string {
  if (!isFiltered) return 'Nothing was changed yet'
  return hasMore ? 'Nothing found so far' : 'Nothing found'
}

function countWords({ changes, phase, next }: HistorySnapshot, isFiltered: boolean): string {
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  const count = changes.length.toLocaleString('en')
  const noun = changes.length === 1 ? 'change' : 'changes'
  if (next !== undefined) return `The last ${count} ${noun}${isFiltered ? ' that fit' : ''}, newest first`
  return isFiltered ? `${count} found` : `${count} ${noun}`
}
