import type { Page } from '@petstore/client'
import { useEffect, useState } from 'preact/compat'
import { failureWords } from './failure-words.ts'
import type { LiveChanges } from './history/live-changes.ts'

export interface RecordSource<Item> {
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Item>>
  readonly live: LiveChanges<Item>
  readonly idOf: (item: Item) => string
  /** Whether an item from an event belongs to the records. An item that no longer does is removed. */
  readonly belongs: (item: Item) => boolean
}

export interface Records<Item> {
  readonly items: readonly Item[]
  /** False if there were more than the page loads. */
  readonly isComplete: boolean
}

export interface LiveRecords<Item> {
  /** `undefined` until they are loaded. */
  readonly records: Records<Item> | undefined
  readonly failure: string | undefined
  readonly reload: () => void
}

/** Bounds the requests of one list: with the smallest plan, a key has 60 a minute. */
const MAX_PAGES = 5

/** Loads all pages up to a limit once, then keeps the records current by events. `source` must stay the same object. */
export function useLiveRecords<Item>(source: RecordSource<Item>): LiveRecords<Item> {
  const [records, setRecords] = useState<Records<Item>>()
  const [failure, setFailure] = useState<string>()
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const end = new AbortController()
    // Events that arrive while the list is loaded may be missing from it.
    let duringLoad: Item[] | undefined = []
    const leave = source.live.subscribe((notice) => {
      if (notice.type === 'missed') setAttempt((count) => count + 1)
      else if (duringLoad !== undefined) duringLoad.push(notice.change)
      else setRecords((before) => before && withEvents(source, before, [notice.change]))
    })
    loadPages(source, end.signal).then(
      (loaded) => {
        if (end.signal.aborted) return
        setRecords(withEvents(source, loaded, duringLoad ?? []))
        setFailure(undefined)
        duringLoad = undefined
      },
      (error: unknown) => {
        if (!end.signal.aborted) setFailure(failureWords(error))
      },
    )
    return () => {
      leave()
      end.abort()
    }
  }, [source, attempt])
  return { records, failure, reload: () => setAttempt((count) => count + 1) }
}

async function loadPages<Item>(source: RecordSource<Item>, signal: AbortSignal): Promise<Records<Item>> {
  const items: Item[] = []
  let cursor: string | undefined
  for (let count = 0; count < MAX_PAGES; count++) {
    const page = await source.load(cursor, signal)
    items.push(...page.items)
    cursor = page.next
    if (cursor === undefined) return { items, isComplete: true }
  }
  return { items, isComplete: false }
}

function withEvents<Item>(
  { idOf, belongs }: RecordSource<Item>,
  records: Records<Item>,
  changed: readonly Item[],
): Records<Item> {
  const ids = new Set(changed.map(idOf))
  const kept = records.items.filter((item) => !ids.has(idOf(item)))
  const added = changed.filter(belongs)
  if (added.length === 0 && kept.length === records.items.length) return records
  return { ...records, items: [...kept, ...added] }
}
