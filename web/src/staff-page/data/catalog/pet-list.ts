import type { InventoryEvent, Page, SearchRow } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import type { LiveChanges } from '../history/live-changes.ts'
import { Observable, type Readable } from '../observable.ts'
import type { CategoryList } from './category-list.ts'
import { afterEvent } from './pet-after-event.ts'

export interface PetListSnapshot {
  readonly rows: readonly SearchRow[]
  readonly phase: 'loading' | 'ready' | 'failed'
  readonly failure: string | undefined
  /** Where the list goes on; `undefined` where it ends. */
  readonly next: string | undefined
  readonly isLoadingMore: boolean
}

export interface PetListSource {
  /** A page, the first one without a cursor. */
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<SearchRow>>
  readonly events: LiveChanges<InventoryEvent>
  readonly categories: Readable<CategoryList>
  /** Whether the list has to be read again for an event of a pet that is not in it. */
  readonly mayAdd: (event: InventoryEvent) => boolean
  /** What becomes of a row by an event; by default what the event tells of it. `undefined` takes it out. */
  readonly after?: (row: SearchRow, event: InventoryEvent) => SearchRow | undefined
}

/** Events that come together are followed by one request. */
const RELOAD_AFTER_MS = 400
const BEGINNING: PetListSnapshot = {
  ...{ rows: [], phase: 'loading', failure: undefined, next: undefined, isLoadingMore: false },
}

/** Pets as a search finds them: read page by page, and kept by the events that arrive anyway. */
export class PetList implements Readable<PetListSnapshot> {
  readonly #snapshot = new Observable(BEGINNING)
  #source: PetListSource
  #ending = new AbortController()
  #leave = () => {}
  #reloading: ReturnType<typeof setTimeout> | undefined

  readonly get = this.#snapshot.get
  readonly subscribe = this.#snapshot.subscribe

  constructor(source: PetListSource) {
    this.#source = source
  }

  /** Reads and follows another search; what is shown stays until its answer is there. */
  follow(source: PetListSource): void {
    this.stop()
    this.#source = source
    this.#ending = new AbortController()
    this.#leave = source.events.subscribe((notice) => {
      if (notice.type === 'missed') void this.reload()
      else this.#take(notice.change)
    })
    void this.reload()
  }

  stop(): void {
    this.#leave()
    this.#ending.abort()
    clearTimeout(this.#reloading)
    this.#reloading = undefined
  }

  /** Reads the first page anew. */
  async reload(): Promise<void> {
    clearTimeout(this.#reloading)
    this.#reloading = undefined
    if (this.get().phase === 'failed') this.#update({ phase: 'loading' })
    await this.#ask(undefined, ({ items }) => items)
  }

  async loadMore(): Promise<void> {
    const { next, isLoadingMore } = this.get()
    if (next === undefined || isLoadingMore) return
    this.#update({ isLoadingMore: true })
    await this.#ask(next, ({ items }) => {
      const { rows } = this.get()
      const known = new Set(rows.map(({ petId }) => petId))
      return [...rows, ...items.filter(({ petId }) => !known.has(petId))]
    })
    this.#update({ isLoadingMore: false })
  }

  async #ask(
    cursor: string | undefined,
    take: (page: Page<SearchRow>) => readonly SearchRow[],
  ): Promise<void> {
    const { signal } = this.#ending
    try {
      const page = await this.#source.load(cursor, signal)
      if (signal.aborted) return
      this.#update({ rows: take(page), next: page.next, phase: 'ready', failure: undefined })
    } catch (error) {
      if (signal.aborted) return
      const phase = this.get().phase === 'ready' ? 'ready' : 'failed'
      this.#update({ phase, failure: failureWords(error) })
    }
  }

  #take(event: InventoryEvent): void {
    if (!('petId' in event)) return
    const {
      mayAdd,
      categories,
      after = (row, told) => afterEvent(row, told, categories.get()),
    } = this.#source
    const { rows } = this.get()
    const place = rows.findIndex(({ petId }) => petId === event.petId)
    const row = rows[place]
    if (row === undefined) {
      if (mayAdd(event)) this.#reloading ??= setTimeout(() => void this.reload(), RELOAD_AFTER_MS)
      return
    }
    const then = after(row, event)
    if (then !== row) this.#update({ rows: rows.toSpliced(place, 1, ...(then === undefined ? [] : [then])) })
  }

  #update(changes: Partial<PetListSnapshot>): void {
    this.#snapshot.set({ ...this.get(), ...changes })
  }
}
