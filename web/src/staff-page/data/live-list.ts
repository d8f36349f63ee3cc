import { useEffect, useState } from 'preact/compat'
import { failureWords } from './failure-words.ts'
import type { LiveChanges } from './history/live-changes.ts'
import { State, useReadable } from './observable.ts'
import { isOutage, RETRY_AFTER_OUTAGE_MS } from './outage.ts'

export interface ListPage<Row> {
  readonly items: readonly Row[]
  /** Where the next page begins; `undefined` after the last page. */
  readonly next?: string | undefined
}

export interface ListSource<Row, Event = never> {
  /** Loads a page; the first one without a cursor. */
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Row>>
  readonly keyOf: (row: Row) => string | bigint
  /** The list is loaded again after an event. */
  readonly events?: LiveChanges<Event> | undefined
  /** Whether an event can change the list. By default every event can. */
  readonly concerns?: (event: Event) => boolean
  /** The shortest time between two reloads because of events, for each request of a reload. */
  readonly reloadEveryMs?: number
  /** Where a row that the user adds belongs; first by default. */
  readonly compare?: (a: Row, b: Row) => number
  /** The rows never change and the newest come first, so a reload keeps the older pages. */
  readonly isLog?: boolean
  readonly failureWords?: (error: unknown) => string
}

export interface ListSnapshot<Row> {
  readonly rows: readonly Row[]
  readonly phase: 'loading' | 'ready' | 'failed'
  readonly failure: string | undefined
  /** Where the next page begins; `undefined` if all pages are loaded. */
  readonly next: string | undefined
  readonly isLoading: boolean
  readonly isLoadingMore: boolean
}

/** Events that come together cause one reload. */
const RELOAD_AFTER_MS = 300
/** A list that changes all the time does not use up the limits of the key. */
const RELOAD_EVERY_MS = 2_000
/** A reload loads at most this many rows. */
const MAX_RELOADED = 1_000

/** A list that is loaded page by page, and again when an event may have changed it. */
export class LiveList<Row, Event = never> extends State<ListSnapshot<Row>> {
  #source: ListSource<Row, Event>
  #ending = new AbortController()
  #unsubscribe = () => {}
  /** Loads run one after the other, so that pages fit together. */
  #lastLoad: Promise<void> = Promise.resolve()
  #nextReload: Promise<void> | undefined
  /** No reload has succeeded since one was needed. */
  #isReloadDue = false
  /** Grows with each row that the user changes: the response to an earlier request may be older. */
  #version = 0
  #reloadedAt = Number.NEGATIVE_INFINITY
  /** The requests of the last reload. */
  #requests = 1
  #reloadTimer: ReturnType<typeof setTimeout> | undefined

  constructor(source: ListSource<Row, Event>) {
    super({
      rows: [],
      phase: 'loading',
      failure: undefined,
      next: undefined,
      isLoading: false,
      isLoadingMore: false,
    })
    this.#source = source
  }

  /** Loads the list and follows its events. With another source, the old rows stay until the new ones are loaded. */
  follow(source: ListSource<Row, Event> = this.#source): void {
    this.stop()
    this.#source = source
    this.#ending = new AbortController()
    this.#lastLoad = source.events?.started ?? Promise.resolve()
    this.#nextReload = undefined
    this.#set({ phase: 'loading', failure: undefined, isLoading: false, isLoadingMore: false })
    const leave = source.events?.subscribe((notice) => {
      if (notice.type === 'missed') void this.reload()
      else if (source.concerns?.(notice.change) !== false) this.#reloadSoon()
    })
    this.#unsubscribe = leave ?? (() => {})
    void this.reload()
  }

  stop(): void {
    this.#unsubscribe()
    this.#ending.abort()
    clearTimeout(this.#reloadTimer)
    this.#reloadTimer = undefined
  }

  /** Loads as many rows as are shown. Never rejects: the snapshot has the failure. */
  reload(): Promise<void> {
    clearTimeout(this.#reloadTimer)
    this.#reloadTimer = undefined
    this.#isReloadDue = true
    this.#set({ isLoading: true })
    this.#nextReload ??= this.#enqueue((signal) => {
      this.#nextReload = undefined
      this.#reloadedAt = Date.now()
      return this.#load(signal, async () => {
        const loaded = await this.#loadAgain(signal)
        this.#isReloadDue = false
        return loaded
      })
    })
    return this.#nextReload
  }

  async loadMore(): Promise<void> {
    if (this.#isReloadDue && this.get().failure !== undefined) return this.reload()
    if (this.get().isLoadingMore) return this.#lastLoad
    await this.#enqueue(async (signal) => {
      const { next } = this.get()
      if (next === undefined) return
      this.#set({ isLoadingMore: true })
      await this.#load(signal, async () => {
        const page = await this.#source.load(next, signal)
        return { items: this.#joined(this.get().rows, page.items), next: page.next }
      })
    })
  }

  /** Adds a row that the user has changed, or replaces the row with its key. */
  put(row: Row): void {
    const { keyOf, compare } = this.#source
    const { rows } = this.get()
    const index = rows.findIndex((each) => keyOf(each) === keyOf(row))
    const changed = index === -1 ? [row, ...rows] : rows.with(index, row)
    this.#version++
    this.#set({ rows: compare === undefined ? changed : changed.toSorted(compare) })
  }

  remove(key: string | bigint): void {
    this.#version++
    this.#set({ rows: this.get().rows.filter((row) => this.#source.keyOf(row) !== key) })
  }

  #enqueue(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#ending
    const load = this.#lastLoad.then(() => (signal.aborted ? undefined : work(signal)))
    this.#lastLoad = load
    return load
  }

  async #load(signal: AbortSignal, read: () => Promise<ListPage<Row>>): Promise<void> {
    const { phase } = this.get()
    this.#set({ isLoading: true, phase: phase === 'ready' ? 'ready' : 'loading' })
    const done = { isLoading: false, isLoadingMore: false }
    try {
      const { items, next } = await read()
      if (!signal.aborted) this.#set({ ...done, rows: items, next, phase: 'ready', failure: undefined })
    } catch (error) {
      if (signal.aborted) return
      const words = this.#source.failureWords ?? failureWords
      this.#set({ ...done, phase: phase === 'ready' ? 'ready' : 'failed', failure: words(error) })
      // A list without events is reloaded by its owner.
      if (isOutage(error) && this.#source.events !== undefined) this.#reloadSoon(RETRY_AFTER_OUTAGE_MS)
    }
  }

  /** The first rows, as many as are shown. They are read again if the user changes one meanwhile. */
  async #loadAgain(signal: AbortSignal): Promise<ListPage<Row>> {
    const { load, isLog = false } = this.#source
    const { phase, rows } = this.get()
    const version = this.#version
    let page = await load(undefined, signal)
    this.#requests = 1
    if (isLog && phase === 'ready') return this.#joinLog(page)
    const wanted = phase === 'ready' ? Math.min(MAX_RELOADED, rows.length) : 0
    while (page.next !== undefined && page.items.length < wanted) {
      const { items, next } = await load(page.next, signal)
      this.#requests++
      page = { items: this.#joined(page.items, items), next }
    }
    return version === this.#version ? page : this.#loadAgain(signal)
  }

  /** Keeps the older rows if the page reaches down to them. Otherwise there would be a gap. */
  #joinLog({ items, next }: ListPage<Row>): ListPage<Row> {
    const { keyOf } = this.#source
    const { rows, next: oldNext } = this.get()
    const oldest = items.at(-1)
    const end = oldest === undefined ? -1 : rows.findIndex((row) => keyOf(row) === keyOf(oldest))
    const older = end === -1 ? [] : rows.slice(end + 1)
    return { items: [...items, ...older], next: older.length === 0 ? next : oldNext }
  }

  /** A row may be on two pages, if one was added before it in between. */
  #joined(rows: readonly Row[], more: readonly Row[]): readonly Row[] {
    const keys = new Set(rows.map(this.#source.keyOf))
    return [...rows, ...more.filter((row) => !keys.has(this.#source.keyOf(row)))]
  }

  #reloadSoon(ms?: number): void {
    const { reloadEveryMs = RELOAD_EVERY_MS } = this.#source
    const next = this.#reloadedAt + this.#requests * reloadEveryMs
    const wait = ms ?? Math.max(RELOAD_AFTER_MS, next - Date.now())
    this.#reloadTimer ??= setTimeout(() => void this.reload(), wait)
  }

  #set(changes: Partial<ListSnapshot<Row>>): void {
    this.setValue({ ...this.get(), ...changes })
  }
}

/**
 * A list for as long as the component is mounted. `source` must stay the same object for the same list; the old rows
 * stay until the rows of another source are loaded.
 */
export function useLiveList<Row, Event>(source: ListSource<Row, Event>): LiveList<Row, Event> {
  const [list] = useState(() => new LiveList<Row, Event>(source))
  useEffect(() => {
    list.follow(source)
    return () => list.stop()
  }, [list, source])
  useReadable(list)
  return list
}
