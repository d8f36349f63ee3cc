import { useMemo } from 'preact/compat'
import { type ListPage, type ListSource, useLiveList } from './live-list.ts'

export type RecordSource<Item, Event> = Pick<
  ListSource<Item, Event>,
  'load' | 'keyOf' | 'events' | 'concerns'
>

/** Bounds the requests of one list: with the smallest plan, a key has 60 a minute. */
const MAX_PAGES = 5
const RELOAD_EVERY_MS = 15_000

/** Loads all pages up to a limit at once, and again after events. `source` must stay the same object. */
export function useLiveRecords<Item, Event>(source: RecordSource<Item, Event>) {
  const list = useLiveList(
    useMemo(
      (): ListSource<Item, Event> => ({
        ...source,
        reloadEveryMs: RELOAD_EVERY_MS,
        load: (_, signal) => loadPages(source, signal),
      }),
      [source],
    ),
  )
  const { rows, phase, failure, next } = list.get()
  // They are not complete if there were more than the page loads.
  const records = useMemo(
    () => (phase === 'ready' ? { items: rows, isComplete: next === undefined } : undefined),
    [rows, phase, next],
  )
  return { records, failure, reload: () => void list.reload() }
}

async function loadPages<Item, Event>(
  { load }: RecordSource<Item, Event>,
  signal: AbortSignal,
): Promise<ListPage<Item>> {
  const items: Item[] = []
  let next: string | undefined
  for (let count = 0; count === 0 || (next !== undefined && count < MAX_PAGES); count++) {
    const page = await load(next, signal)
    items.push(...page.items)
    next = page.next
  }
  return { items, next }
}
