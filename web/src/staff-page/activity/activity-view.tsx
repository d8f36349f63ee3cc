import { useEffect, useMemo, useState } from 'preact/compat'
import { useHash } from '../../shared/hash-navigation.ts'
import { changeListSource } from '../data/history/change-history.ts'
import { type Change, changeKey } from '../data/history/change-log.ts'
import type { PetEdit } from '../data/history/pet-edits.ts'
import { type ListSnapshot, useSearchedList } from '../data/live-list.ts'
import { useReadable } from '../data/observable.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { useDebounced, useNow } from '../ui/hooks.ts'
import { Empty, ListFrame } from '../ui/list-frame.tsx'
import { href, routeOf } from '../ui/navigation.ts'
import { ActivityEntry, type Adjustment, EditRow, groupAdjustments } from './activity-entry.tsx'
import {
  type ActivityFilter,
  activitySource,
  fitsEdit,
  fromAddress,
  isFilteringActivity,
  toAddress,
} from './activity-filter.ts'
import { ActivityFilters } from './activity-filters.tsx'
import './activity.css'

const SEARCH_AFTER_MS = 300

/** All changes of the stock, and the edits of pets since the session began: who changed what, when and why. */
export function ActivityView() {
  const session = useSession()
  const { client, feed } = session
  const petEdits = useReadable(session.petEdits)
  const owner = useReadable(session.owner)
  const route = routeOf(useHash())
  const [filter, setFilter] = useState(() => fromAddress('query' in route ? route.query : undefined))
  const [keyNames] = useState(() => new Map<string, string>())
  const applied = useDebounced(filter, SEARCH_AFTER_MS)
  const list = useSearchedList(
    useMemo(
      () => changeListSource(activitySource(client, feed.changes, applied, keyNames)),
      [client, feed, applied, keyNames],
    ),
  )
  const now = useNow(15_000)
  // Shows the names of pets once they are loaded.
  useStock()
  useEffect(() => {
    const address = href({ view: 'activity', query: toAddress(applied) })
    if (location.hash.startsWith('#/activity') && location.hash !== address) {
      history.replaceState(history.state, '', address)
    }
  }, [applied])
  const snapshot = list.get()
  const { rows, phase, failure, next, isLoadingMore } = snapshot
  const hasMore = next !== undefined
  const whoOf = (keyId: string) =>
    keyNames.get(keyId) ?? (owner !== undefined && owner.id === keyId ? owner.name : keyId)
  const oldest = hasMore ? (rows.at(-1)?.at ?? Number.POSITIVE_INFINITY) : Number.NEGATIVE_INFINITY
  const edits = petEdits.filter((edit) => edit.at >= oldest && fitsEdit(edit, whoOf(edit.keyId), applied))
  const adjustments = useMemo(() => groupAdjustments(rows), [rows])
  const lastAdjustment = adjustments.at(-1)
  const entries = merge(adjustments, edits)
  return (
    <section className="view view--list activity" aria-label="Activity">
      <h1>Activity</h1>
      <ActivityFilters filter={filter} people={[...new Set(keyNames.values())].sort()} onChange={setFilter} />
      <p className="view__status muted number" role="status">
        {countWords(snapshot, isFilteringActivity(applied))}
      </p>
      <ListFrame
        label="Changes"
        phase={phase}
        failure={failure}
        isEmpty={entries.length === 0}
        hasMore={hasMore}
        isLoadingMore={isLoadingMore}
        onRetry={() => void list.reload()}
        onLoadMore={() => void list.loadMore()}
        empty={<NoChanges filter={applied} hasMore={hasMore} />}
      >
        {entries.map((entry) =>
          entry.type === 'edit' ? (
            <EditRow key={entry.edit.id} edit={entry.edit} who={whoOf(entry.edit.keyId)} now={now} />
          ) : (
            <ActivityEntry
              key={changeKey(entry.adjustment.changes.at(-1) ?? entry.adjustment.first)}
              adjustment={entry.adjustment}
              mayHaveMore={hasMore && entry.adjustment === lastAdjustment}
              now={now}
            />
          ),
        )}
      </ListFrame>
      <p className="muted view__status">Edits of pets are listed since you opened this page.</p>
    </section>
  )
}

type Entry =
  | { readonly type: 'adjustment'; readonly at: number; readonly adjustment: Adjustment }
  | { readonly type: 'edit'; readonly at: number; readonly edit: PetEdit }

/** Newest first. */
function merge(adjustments: readonly Adjustment[], edits: readonly PetEdit[]): readonly Entry[] {
  const entries: Entry[] = adjustments.map((adjustment) => ({
    type: 'adjustment',
    at: adjustment.first.at,
    adjustment,
  }))
  for (const edit of edits) entries.push({ type: 'edit', at: edit.at, edit })
  // The sort is stable, so adjustments of the same time keep their order.
  return edits.length === 0 ? entries : entries.sort((a, b) => b.at - a.at)
}

function NoChanges({ filter, hasMore }: { readonly filter: ActivityFilter; readonly hasMore: boolean }) {
  if (!isFilteringActivity(filter)) {
    return (
      <Empty title="Nothing was changed yet">
        <p>Every change of a quantity is listed here.</p>
      </Empty>
    )
  }
  const { from, to } = filter
  return (
    <Empty title={hasMore ? 'No changes match so far.' : 'No changes match.'}>
      {from !== '' && to !== '' && from > to && <p>“From” is after “To”: swap the days.</p>}
      {hasMore && <p>Show more to look further back.</p>}
    </Empty>
  )
}

function countWords({ rows, phase, next }: ListSnapshot<Change>, isFiltered: boolean): string {
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  const count = rows.length.toLocaleString('en')
  const noun = rows.length === 1 ? 'change' : 'changes'
  if (next !== undefined) return `The last ${count} ${isFiltered ? 'matching ' : ''}${noun}, newest first`
  return isFiltered ? `${count} found` : `${count} ${noun}`
}
