import { useEffect, useMemo, useState } from 'preact/compat'
import { type ListSnapshot, useSearchedList } from '../data/live-list.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { useDebounced, useNow } from '../ui/hooks.ts'
import { Empty, ListFrame } from '../ui/list-frame.tsx'
import { href, routeOf } from '../ui/navigation.ts'
import { ActivityEntry, groupActivities } from './activity-entry.tsx'
import {
  type ActivityFilter,
  ActivityFilters,
  fromAddress,
  isFilteringActivity,
  toAddress,
} from './activity-filter.tsx'
import { type Activity, type ActivityCursor, activitySource, keyOf } from './activity-source.ts'
import './activity.css'

const SEARCH_AFTER_MS = 300

/** All changes of the stock and all edits of pets: who changed what, when and why. */
export function ActivityView() {
  const { client, feed } = useSession()
  const [filter, setFilter] = useState(() => fromAddress(routeOf(location.hash).query))
  const [keyNames] = useState(() => new Map<string, string>())
  const applied = useDebounced(filter, SEARCH_AFTER_MS)
  const list = useSearchedList(
    useMemo(
      () => activitySource({ client, events: feed.events, keyNames }, applied),
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
  const { rows, next } = snapshot
  const hasMore = next !== undefined
  const groups = useMemo(() => groupActivities(rows), [rows])
  return (
    <section className="view view--list activity" aria-label="Activity">
      <h1>Activity</h1>
      <ActivityFilters filter={filter} people={[...new Set(keyNames.values())].sort()} onChange={setFilter} />
      <p className="small muted number" role="status">
        {countWords(snapshot, isFilteringActivity(applied))}
      </p>
      <ListFrame label="Changes" list={list} empty={<NoChanges filter={applied} hasMore={hasMore} />}>
        {groups.map((group, index) => (
          <ActivityEntry
            key={keyOf(group.at(-1) ?? group[0])}
            rows={group}
            mayHaveMore={hasMore && index === groups.length - 1}
            now={now}
          />
        ))}
      </ListFrame>
    </section>
  )
}

function NoChanges({ filter, hasMore }: { readonly filter: ActivityFilter; readonly hasMore: boolean }) {
  if (!isFilteringActivity(filter)) {
    return (
      <Empty title="Nothing was changed yet">
        <p>Every change of a quantity and every edit of a pet is listed here.</p>
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

function countWords(
  { rows, phase, next }: ListSnapshot<Activity, ActivityCursor>,
  isFiltered: boolean,
): string {
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  const count = rows.length.toLocaleString('en')
  const noun = rows.length === 1 ? 'change' : 'changes'
  if (next !== undefined) return `The last ${count} ${isFiltered ? 'matching ' : ''}${noun}, newest first`
  return isFiltered ? `${count} found` : `${count} ${noun}`
}
