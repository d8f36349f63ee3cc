import type { Page } from '@petstore/client'
import { useEffect, useMemo } from 'react'
import { failureWords } from '../failure-words.ts'
import { Observable, type Readable, useReadable } from '../observable.ts'
import { type Change, type ChangeLog, EMPTY_LOG, withEvents, withNewest, withOlder } from './change-log.ts'
import type { LiveChanges } from './live-changes.ts'

export interface HistorySnapshot extends ChangeLog {
  readonly phase: 'loading' | 'ready' | 'failed'
  /** Why the last request failed, in words for the user. */
  readonly failure: string | undefined
  readonly isLoadingOlder: boolean
}

export interface HistorySource {
  /** A page, the newest without a cursor. */
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Change>>
  readonly live: LiveChanges
  /** The one pet that it is about; all pets without it. */
  readonly petId?: bigint
  /** Whether a change that is told of belongs to it; `unknown` where the newest page has to be listed again to tell. */
  readonly fits?: (change: Change) => boolean | 'unknown'
}

/** Changes by keys whose names are not known yet are looked up together. */
const LOOK_UP_AFTER_MS = 300
/** Changes that come within this time are drawn together. */
const FLUSH_MS = 60
/** A page that stays open for weeks does not keep all that happens meanwhile. */
const MAX_CHANGES = 2_000
/** What is shown until the newest page is there again; fewer than a page. */
const FEWEST_CHANGES = 10
const BEGINNING: HistorySnapshot = {
  ...EMPTY_LOG,
  phase: 'loading',
  failure: undefined,
  isLoadingOlder: false,
}

/** A history that is listed once and then kept by the events that arrive anyway, so that it costs few requests. */
export class ChangeHistory implements Readable<HistorySnapshot> {
  readonly #snapshot = new Observable(BEGINNING)
  readonly #source: HistorySource
  #ending = new AbortController()
  #lookingUp: ReturnType<typeof setTimeout> | undefined
  #flushing: ReturnType<typeof setTimeout> | undefined
  #told: Change[] = []

  readonly get = this.#snapshot.get
  readonly subscribe = this.#snapshot.subscribe

  constructor(source: HistorySource) {
    this.#source = source
  }

  /** Lists and follows, until the function that it gives is called. */
  start(): () => void {
    const { live, petId, fits = () => true } = this.#source
    this.#ending = new AbortController()
    const leave = live.subscribe((notice) => {
      if (notice.type === 'missed') return void this.reload()
      const isOurs = (petId === undefined || notice.change.petId === petId) && fits(notice.change)
      if (isOurs === 'unknown') this.#lookUp()
      else if (isOurs) this.#take(notice.change)
    })
    void this.reload()
    return () => {
      leave()
      clearTimeout(this.#lookingUp)
      clearTimeout(this.#flushing)
      this.#ending.abort()
    }
  }

  /** Asks for the newest page again. */
  async reload(): Promise<void> {
    clearTimeout(this.#lookingUp)
    this.#lookingUp = undefined
    if (this.get().phase === 'failed') this.#update({ phase: 'loading' })
    await this.#ask(undefined, (page) => withNewest(this.get(), page))
  }

  /** Asks for the page that follows the oldest. */
  async loadOlder(): Promise<void> {
    const { next, isLoadingOlder } = this.get()
    if (next === undefined || isLoadingOlder) return
    this.#update({ isLoadingOlder: true })
    await this.#ask(next, (page) => withOlder(this.get(), page))
    this.#update({ isLoadingOlder: false })
  }

  async #ask(cursor: string | undefined, take: (page: Page<Change>) => ChangeLog): Promise<void> {
    const { signal } = this.#ending
    try {
      const page = await this.#source.load(cursor, signal)
      if (!signal.aborted) this.#update({ ...take(page), phase: 'ready', failure: undefined })
    } catch (error) {
      if (signal.aborted) return
      const { phase } = this.get()
      this.#update({ phase: phase === 'ready' ? 'ready' : 'failed', failure: failureWords(error) })
    }
  }

  #take(change: Change): void {
    this.#told.push(change)
    this.#flushing ??= setTimeout(() => this.#flush(), FLUSH_MS)
  }

  #flush(): void {
    this.#flushing = undefined
    const before = this.get()
    const log = withEvents(before, this.#told.splice(0))
    if (log.changes.length > MAX_CHANGES) {
      this.#update({ changes: log.changes.slice(0, FEWEST_CHANGES), next: undefined })
      void this.reload()
      return
    }
    this.#update(log)
    const added = log.changes.slice(0, log.changes.length - before.changes.length)
    if (added.some(({ keyName }) => keyName === undefined)) {
      this.#lookUp()
    }
  }

  #lookUp(): void {
    this.#lookingUp ??= setTimeout(() => void this.reload(), LOOK_UP_AFTER_MS)
  }

  #update(changes: Partial<HistorySnapshot>): void {
    this.#snapshot.set({ ...this.get(), ...changes })
  }
}

/** A history for as long as the component is there. `source` must stay the same object for the same history. */
export function useChangeHistory(source: HistorySource): { history: ChangeHistory; log: HistorySnapshot } {
  const history = useMemo(() => new ChangeHistory(source), [source])
  useEffect(() => history.start(), [history])
  return { history, log: useReadable(history) }
}
