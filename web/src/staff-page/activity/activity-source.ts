import type { InventoryEvent, Page, PetEdit, PetstoreClient } from '@petstore/client'
import { type Change, changeKey, changeOf } from '../data/history/change-log.ts'
import type { LiveChanges } from '../data/history/live-changes.ts'
import type { ListPage, ListSource } from '../data/live-list.ts'
import { fold } from '../data/stock/search-text.ts'
import { type ActivityFilter, fitsQuery, queryOf } from './activity-filter.tsx'

export type Activity = Pick<Change, 'at' | 'petId' | 'keyId' | 'keyName'> &
  ({ readonly type: 'change'; readonly change: Change } | { readonly type: 'edit'; readonly edit: PetEdit })

/** For each history, the rows that are loaded but not shown yet, and where its next page begins. */
export type ActivityCursor = readonly ListPage<Activity>[]

const PAGE_SIZE = 50
/** The size of pages that are searched for a part of a name, or that may be an import. */
const LARGE_PAGE_SIZE = 500
/** After this many pages without a match, the user decides whether to search further. */
const MAX_PAGES = 4

interface Context {
  readonly client: Pick<PetstoreClient, 'inventory' | 'pets'>
  readonly events: LiveChanges<InventoryEvent>
  /** Collects the names of all keys that occur. */
  readonly keyNames: Map<string, string>
}

/**
 * The changes and edits that match, newest first. The service filters by whole names only, so this filters by a part of
 * a name itself.
 */
export function activitySource(
  { client, events, keyNames }: Context,
  filter: ActivityFilter,
): ListSource<Activity, InventoryEvent, ActivityCursor> {
  const query = queryOf(filter)
  const { reason, ...editQuery } = query
  const part = fold(filter.who.trim())
  const who = [...keyNames.values()].find((name) => fold(name) === part)
  const isBy = (name: string) => (who === undefined ? fold(name).includes(part) : fold(name) === part)
  const limit = part === '' || who !== undefined ? PAGE_SIZE : LARGE_PAGE_SIZE
  const loadChanges = searchPages(
    (cursor, signal) => client.inventory.changes({ ...query, who, limit, cursor, signal }),
    (item) => changeRowOf(changeOf(item)),
  )
  const loadEdits = searchPages(
    (cursor, signal) => client.pets.history({ ...editQuery, who, limit: LARGE_PAGE_SIZE, cursor, signal }),
    editRowOf,
  )

  function searchPages<Item extends { readonly keyId: string; readonly keyName: string }>(
    load: (cursor: string | undefined, signal: AbortSignal) => PromiseLike<Page<Item>>,
    toRow: (item: Item) => Activity,
  ): LoadPage {
    return async (cursor, signal) => {
      let page: ListPage<Activity> = { items: [], next: cursor }
      for (let count = 0; count < MAX_PAGES && page.items.length === 0; count++) {
        if (count > 0 && page.next === undefined) break
        const { items, next } = await load(page.next, signal)
        for (const { keyId, keyName } of items) keyNames.set(keyId, keyName)
        page = { items: items.filter(({ keyName }) => isBy(keyName)).map(toRow), next }
      }
      return page
    }
  }

  return {
    events,
    isLog: true,
    keyOf,
    load: mergeByTime(reason === undefined ? [loadChanges, loadEdits] : [loadChanges]),
    concerns: (event) =>
      (event.type === 'change' || event.type === 'pet' || event.type === 'removed') &&
      fitsQuery(event, query),
  }
}

type LoadPage = (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Activity>>

/** Rows of one history wait until the other history is loaded down to their time. */
function mergeByTime(
  histories: readonly LoadPage[],
): ListSource<Activity, InventoryEvent, ActivityCursor>['load'] {
  return async (cursor, signal) => {
    const pages = await Promise.all(
      histories.map((load, index) => {
        const page = cursor?.[index]
        if (page === undefined) return load(undefined, signal)
        return page.items.length === 0 && page.next !== undefined ? load(page.next, signal) : page
      }),
    )
    const starts = pages.map(({ items, next }) => (next === undefined ? undefined : items.at(-1)?.at))
    const start = Math.max(...starts.map((at) => at ?? Number.NEGATIVE_INFINITY))
    const items = pages.flatMap((page) => page.items.filter(({ at }) => at >= start)).sort(newestFirst)
    const rest = pages.map((page) => ({ ...page, items: page.items.filter(({ at }) => at < start) }))
    const hasMore = rest.some((page) => page.items.length > 0 || page.next !== undefined)
    return { items, next: hasMore ? rest : undefined }
  }
}

function changeRowOf(change: Change): Activity {
  const { at, petId, keyId, keyName } = change
  return { type: 'change', at, petId, keyId, keyName, change }
}

function editRowOf(edit: PetEdit): Activity {
  const { at, petId, keyId, keyName } = edit
  return { type: 'edit', at: Date.parse(at), petId, keyId, keyName, edit }
}

export function keyOf(row: Activity): string {
  return row.type === 'change' ? changeKey(row.change) : `edit ${row.edit.id}`
}

/** Rows of the same time are sorted by kind, so that the rows of one import stay together. */
function newestFirst(a: Activity, b: Activity): number {
  return b.at - a.at || rankOf(a) - rankOf(b)
}

const RANKS = { removed: 1, changed: 2, created: 3 } as const

function rankOf(row: Activity): number {
  return row.type === 'change' ? 0 : RANKS[row.edit.change]
}
