import { useEffect, useMemo, useState } from 'preact/compat'
import { failureWords } from './failure-words.ts'
import type { LiveChanges } from './history/live-changes.ts'
import { State, useReadable } from './observable.ts'
import { isOutage, RETRY_AFTER_OUTAGE_MS } from './outage.ts'

export interface ListPage<Row, Cursor = string> {
  readonly items: readonly Row[]
  /** Where the next page begins; `undefined` after the last page. */
  readonly next?: Cursor | undefined
}

export type Effect<Row> =
  /** Adds the row, or replaces the row with its key. If it is incomplete, the list is soon loaded again. */
  | { readonly type: 'put'; readonly row: Row; readonly isIncomplete?: boolean }
  | { readonly type: 'remove'; readonly key: RowKey }
  /** The event does not say how. Events that come together cause one request. */
  | { readonly type: 'reload' }

type RowKey = string | bigint

/** The list as `effectOf` sees it. */
interface LoadedRows<Row> {
  find(key: RowKey): Row | undefined
  /** Whether the row would be on a page that is loaded. */
  hasReached(row: Row): boolean
}

export interface ListSource<Row, Event = never, Cursor = string> {
  /** Loads a page; the first one without a cursor. */
  readonly load: (cursor: Cursor | undefined, signal: AbortSignal) => Promise<ListPage<Row, Cursor>>
  readonly keyOf: (row: Row) => RowKey
  readonly events?: LiveChanges<Event> | undefined
  readonly effectOf?: (event: Event, rows: LoadedRows<Row>) => Effect<Row> | undefined
  /** Pages may have rows that the list does not show. All rows belong to it by default. */
  readonly belongs?: (row: Row) => boolean
  /** Sorts the rows. Without it, pages keep the order of the service, and new rows come first. */
  readonly compare?: (a: Row, b: Row) => number
  /** The rows never change and the newest come first, so a reload keeps the older pages. */
  readonly isLog?: boolean
  readonly failureWords?: (error: unknown) => string
}

export interface ListSnapshot<Row, Cursor = string> {
  readonly rows: readonly Row[]
  readonly phase: 'loading' | 'ready' | 'failed'
  readonly failure: string | undefined
  /** Where the next page begins; `undefined` if all pages are loaded. */
  readonly next: Cursor | undefined
  readonly isLoading: boolean
  readonly isLoadingMore: boolean
  /** The number of rows on the loaded pages, including those that do not belong to the list. */
  readonly examined: number
}

const RELOAD_AFTER_MS = 300
/** Events that arrive within this time are shown together. */
const FLUSH_MS = 60
/** A reload loads at most this many rows. */
const MAX_RELOADED = 1_000
/** The number of rows that no longer belong to the list after which it hides them by itself. */
const MAX_SETTLED = 200
/** A log that stays open for weeks starts again at this length. */
const MAX_LOG_ROWS = 2_000
/** The rows of such a log that stay until its first page is loaded; fewer than a page. */
const KEPT_LOG_ROWS = 10

/** A list that is loaded page by page. Events keep it current, also events that arrive while a page loads. */
export class LiveList<Row, Event = never, Cursor = string> extends State<ListSnapshot<Row, Cursor>> {
  #source: ListSource<Row, Event, Cursor>
  #rows: Row[] = []
  #byKey = new Map<RowKey, Row>()
  #next: Cursor | undefined
  #examined = 0
  #lastExamined: Row | undefined
  #ending = new AbortController()
  #unsubscribe = () => {}
  /** Loads run one after the other, so that pages fit together. */
  #lastLoad: Promise<void> = Promise.resolve()
  #nextReload: Promise<void> | undefined
  /** No reload has succeeded since one was needed. */
  #isReloadDue = false
  /** Updates since the load began. They are replayed on its result, which may be older. */
  #duringLoad: (() => Effect<Row> | undefined)[] | undefined
  #reloadTimer: ReturnType<typeof setTimeout> | undefined
  #flushTimer: ReturnType<typeof setTimeout> | undefined

  constructor(source: ListSource<Row, Event, Cursor>) {
    super({
      rows: [],
      phase: 'loading',
      failure: undefined,
      next: undefined,
      isLoading: false,
      isLoadingMore: false,
      examined: 0,
    })
    this.#source = source
  }

  /** Loads the list and follows its events. With another source, the old rows stay until the new ones are loaded. */
  follow(source: ListSource<Row, Event, Cursor> = this.#source): void {
    this.stop()
    this.#source = source
    this.#ending = new AbortController()
    this.#lastLoad = source.events?.started ?? Promise.resolve()
    this.#nextReload = undefined
    this.#duringLoad = undefined
    this.#set({ phase: 'loading', failure: undefined, isLoading: false, isLoadingMore: false })
    const leave = source.events?.subscribe((notice) => {
      if (notice.type === 'missed') void this.reload()
      else this.#take(notice.change)
    })
    this.#unsubscribe = leave ?? (() => {})
    void this.reload()
  }

  stop(): void {
    this.#unsubscribe()
    this.#ending.abort()
    clearTimeout(this.#reloadTimer)
    clearTimeout(this.#flushTimer)
    this.#reloadTimer = undefined
    this.#flushTimer = undefined
  }

  /** Loads as many rows as are shown. Never rejects: the snapshot has the failure. */
  reload(): Promise<void> {
    clearTimeout(this.#reloadTimer)
    this.#reloadTimer = undefined
    this.#duringLoad ??= []
    this.#isReloadDue = true
    this.#set({ isLoading: true })
    this.#nextReload ??= this.#enqueue((signal) => {
      this.#nextReload = undefined
      return this.#load(signal, async () => {
        const show = await this.#loadFirst(signal)
        return () => {
          this.#isReloadDue = false
          show()
        }
      })
    })
    return this.#nextReload
  }

  async loadMore(): Promise<void> {
    if (this.#isReloadDue && this.get().failure !== undefined) return this.reload()
    if (this.get().isLoadingMore) return this.#lastLoad
    await this.#enqueue(async (signal) => {
      const cursor = this.#next
      if (cursor === undefined) return
      this.#set({ isLoadingMore: true })
      await this.#load(signal, async () => {
        const page = await this.#source.load(cursor, signal)
        return () => this.#append(page)
      })
    })
  }

  /** Applies an event now, such as the response to an action of the user. */
  apply(event: Event): void {
    this.#take(event)
    this.#flush()
  }

  put(row: Row): void {
    this.#update(() => ({ type: 'put', row }))
    this.#flush()
  }

  remove(key: RowKey): void {
    this.#update(() => ({ type: 'remove', key }))
    this.#flush()
  }

  /** Whether the row no longer belongs to the list. It stays until `hideSettled`, so that no row moves by itself. */
  isSettled(row: Row): boolean {
    return this.#source.belongs?.(row) === false
  }

  hideSettled(): void {
    this.#replaceRows(this.#rows.filter((row) => !this.isSettled(row)))
    this.#publish({})
  }

  #enqueue(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#ending
    const load = this.#lastLoad.then(() => (signal.aborted ? undefined : work(signal)))
    this.#lastLoad = load
    return load
  }

  /** `read` returns a function that shows its result. It is not called if the load was aborted. */
  async #load(signal: AbortSignal, read: () => Promise<() => void>): Promise<void> {
    const { phase } = this.get()
    this.#duringLoad ??= []
    this.#set({ isLoading: true, phase: phase === 'ready' ? 'ready' : 'loading' })
    const done = { isLoading: false, isLoadingMore: false }
    try {
      const show = await read()
      if (signal.aborted) return
      show()
      const updates = this.#duringLoad
      this.#duringLoad = undefined
      for (const update of updates) this.#applyEffect(update())
      this.#publish({ ...done, phase: 'ready', failure: undefined })
    } catch (error) {
      if (signal.aborted) return
      const updates = this.#duringLoad
      this.#duringLoad = undefined
      if (updates?.some((update) => update()?.type === 'reload')) this.#isReloadDue = true
      const words = this.#source.failureWords ?? failureWords
      this.#set({ ...done, phase: phase === 'ready' ? 'ready' : 'failed', failure: words(error) })
      // A list without events is reloaded by its owner.
      if (isOutage(error) && this.#source.events !== undefined) this.#reloadSoon(RETRY_AFTER_OUTAGE_MS)
    }
  }

  async #loadFirst(signal: AbortSignal): Promise<() => void> {
    const { load, isLog = false } = this.#source
    const first = await load(undefined, signal)
    const isReload = this.get().phase === 'ready'
    if (isLog && isReload) return () => this.#joinLog(first)
    const wanted = isReload ? Math.min(MAX_RELOADED, this.#rows.length) : 0
    const pages = [first]
    let shown = this.#countBelonging(first)
    for (let { next } = first; next !== undefined && shown < wanted; next = pages.at(-1)?.next) {
      const page = await load(next, signal)
      pages.push(page)
      shown += this.#countBelonging(page)
    }
    return () => {
      this.#replaceRows([])
      this.#examined = 0
      this.#lastExamined = undefined
      for (const page of pages) this.#append(page)
    }
  }

  #countBelonging({ items }: ListPage<Row, Cursor>): number {
    return items.filter((row) => !this.isSettled(row)).length
  }

  #append({ items, next }: ListPage<Row, Cursor>): void {
    const { keyOf } = this.#source
    for (const row of items) {
      const key = keyOf(row)
      if (this.#byKey.has(key) || this.isSettled(row)) continue
      this.#byKey.set(key, row)
      this.#rows.push(row)
    }
    this.#examined += items.length
    this.#lastExamined = items.at(-1) ?? this.#lastExamined
    this.#next = next
  }

  /** Keeps the older rows if the page reaches down to them. Otherwise there would be a gap. */
  #joinLog({ items, next }: ListPage<Row, Cursor>): void {
    const { keyOf } = this.#source
    const oldest = items.at(-1)
    const end = oldest === undefined ? -1 : this.#rows.findIndex((row) => keyOf(row) === keyOf(oldest))
    const older = end === -1 ? [] : this.#rows.slice(end + 1)
    if (older.length === 0) this.#next = next
    this.#replaceRows([...items, ...older])
    this.#examined = this.#rows.length
  }

  #take(event: Event): void {
    this.#update(() =>
      this.#source.effectOf?.(event, {
        find: (key) => this.#byKey.get(key),
        hasReached: (row) => this.#hasReached(row),
      }),
    )
  }

  #hasReached(row: Row): boolean {
    const { compare } = this.#source
    if (this.#next === undefined) return true
    return compare !== undefined && this.#lastExamined !== undefined && compare(row, this.#lastExamined) <= 0
  }

  #update(update: () => Effect<Row> | undefined): void {
    this.#duringLoad?.push(update)
    if (this.get().phase !== 'ready') return
    const effect = update()
    const isDecidedAfterLoad = this.#duringLoad !== undefined && effect?.type === 'reload'
    if (!isDecidedAfterLoad) this.#applyEffect(effect)
  }

  #applyEffect(effect: Effect<Row> | undefined): void {
    switch (effect?.type) {
      case undefined:
        return
      case 'reload':
        this.#reloadSoon()
        return
      case 'remove':
        this.#replaceRows(this.#rows.filter((row) => this.#source.keyOf(row) !== effect.key))
        break
      case 'put':
        this.#putRow(effect.row)
        if (effect.isIncomplete) this.#reloadSoon()
    }
    this.#flushTimer ??= setTimeout(() => this.#flush(), FLUSH_MS)
  }

  #putRow(row: Row): void {
    const key = this.#source.keyOf(row)
    const known = this.#byKey.get(key)
    if (known === undefined) this.#rows.unshift(row)
    else this.#rows[this.#rows.indexOf(known)] = row
    this.#byKey.set(key, row)
  }

  #replaceRows(rows: Row[]): void {
    this.#rows = rows
    this.#byKey = new Map(rows.map((row) => [this.#source.keyOf(row), row]))
  }

  #reloadSoon(ms = RELOAD_AFTER_MS): void {
    this.#reloadTimer ??= setTimeout(() => void this.reload(), ms)
  }

  #flush(): void {
    if (this.get().phase !== 'ready') return
    if (this.#source.isLog && this.#rows.length > MAX_LOG_ROWS) {
      this.#replaceRows(this.#rows.slice(0, KEPT_LOG_ROWS))
      this.#next = undefined
      void this.reload()
    }
    const settled = this.#rows.filter((row) => this.isSettled(row))
    if (settled.length > MAX_SETTLED) this.hideSettled()
    else this.#publish({})
  }

  #publish(changes: Partial<ListSnapshot<Row, Cursor>>): void {
    clearTimeout(this.#flushTimer)
    this.#flushTimer = undefined
    const { compare } = this.#source
    const rows = compare === undefined ? [...this.#rows] : this.#rows.toSorted(compare)
    this.#set({ rows, next: this.#next, examined: this.#examined, ...changes })
  }

  #set(changes: Partial<ListSnapshot<Row, Cursor>>): void {
    this.setValue({ ...this.get(), ...changes })
  }
}

/** A list for as long as the component is mounted. `source` must stay the same object for the same list. */
export function useLiveList<Row, Event, Cursor>(
  source: ListSource<Row, Event, Cursor>,
): LiveList<Row, Event, Cursor> {
  const list = useMemo(() => new LiveList<Row, Event, Cursor>(source), [source])
  return useFollowed(list, source)
}

/** Like `useLiveList`, but the old rows stay until the rows of another source are loaded. */
export function useSearchedList<Row, Event, Cursor>(
  source: ListSource<Row, Event, Cursor>,
): LiveList<Row, Event, Cursor> {
  const [list] = useState(() => new LiveList<Row, Event, Cursor>(source))
  return useFollowed(list, source)
}

function useFollowed<Row, Event, Cursor>(
  list: LiveList<Row, Event, Cursor>,
  source: ListSource<Row, Event, Cursor>,
): LiveList<Row, Event, Cursor> {
  useEffect(() => {
    list.follow(source)
    return () => list.stop()
  }, [list, source])
  useReadable(list)
  return list
}
