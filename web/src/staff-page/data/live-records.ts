import type { Page } from '@petstore/client'
import { useMemo } from 'preact/compat'
import type { LiveChanges } from './history/live-changes.ts'
import { type ListPage, type ListSource, useLiveList } from './live-list.ts'

export interface RecordSource<Item> {
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Item>>
  readonly live: LiveChanges<Item>
  readonly idOf: (item: Item) => string
  /** Whether an event can change the records. By default every event can. */
  readonly concerns?: (item: Item) => boolean
}

/** Bounds the requests of one list: with the smallest plan, a key has 60 a minute. */
const MAX_PAGES = 5
const RELOAD_EVERY_MS = 15_000

/** Loads all pages up to a limit at once, and again after events. `source` must stay the same object. */
export function useLiveRecords<Item>(source: RecordSource<Item>) {
  const listSource = useMemo((): ListSource<Item, Item> => {
    const { live, idOf, concerns = () => true } = source
    return {
      keyOf: idOf,
      events: live,
      concerns,
      reloadEveryMs: RELOAD_EVERY_MS,
      load: (_, signal) => loadPages(source, signal),
    }
  }, [source])
  const list = useLiveList(listSource)
  const { rows, phase, failure, next } = list.get()
  // They are not complete if there were more than the page loads.
  const records = useMemo(
    () => (phase === 'ready' ? { items: rows, isComplete: next === undefined } : undefined),
    [rows, phase, next],
  )
  return { records, failure, reload: () => void list.reload() }
}

async function loadPages<Item>({ load }: RecordSource<Item>, signal: AbortSignal): Promise<ListPage<Item>> {
  const items: Item[] = []
  let next: string | undefined
  for (let count = 0; count === 0 || (next !== undefined && count < MAX_PAGES); count++) {
    const page = await load(next, signal)
    items.push(...page.items)
    next = page.next
  }
  return { items, next }
}
