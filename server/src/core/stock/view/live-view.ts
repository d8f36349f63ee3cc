import type { MaybePromise } from '../../values/maybe-promise.ts'
import type { InventoryItem } from '../inventory.ts'
import type { StockStore } from '../stock-store.ts'
import { InventoryPages, type InventorySnapshot } from './inventory-pages.ts'

type ViewStore = Pick<StockStore, 'version' | 'loadStock' | 'stockChangesSince'>

/** From this size on, garbage is collected before the list is loaded again: docs/decisions/2026-11-15-live-view.md. */
const MIN_ENTRIES_TO_COLLECT = 100_000

/**
 * The stock in memory, ready to send. A read sees every change that any process acknowledged before the read began. If the
 * version of the store changed or is unknown, a read first fetches the changes from the store. Reads that wait share one
 * fetch, but never one that has already begun: it may miss a change acknowledged since.
 */
export class LiveView {
  readonly #store: ViewStore
  /** `undefined` while the whole list is loaded again. */
  #loaded: Loaded | undefined
  /** The version of the store that the view shows. */
  #version: number | undefined
  #nextFetch: Promise<Loaded> | undefined
  #lastFetch: Promise<unknown> = Promise.resolve()

  static async open(store: ViewStore): Promise<LiveView> {
    const version = store.version()
    return new LiveView(store, await load(store), version)
  }

  private constructor(store: ViewStore, loaded: Loaded, version: number | undefined) {
    this.#store = store
    this.#loaded = loaded
    this.#version = version
  }

  get count(): number {
    return this.#loaded?.pages.count ?? 0
  }

  /** The current list, without a promise if nothing changed. */
  current(): MaybePromise<InventorySnapshot> {
    return this.#whenCurrent(({ pages }) => pages.snapshot())
  }

  find(petId: bigint): MaybePromise<InventoryItem | undefined> {
    return this.#whenCurrent(({ pages }) => pages.get(petId))
  }

  #whenCurrent<T>(read: (loaded: Loaded) => T): MaybePromise<T> {
    const version = this.#store.version()
    const isCurrent = version !== undefined && version === this.#version
    return isCurrent && this.#loaded !== undefined ? read(this.#loaded) : this.#joinFetch().then(read)
  }

  #joinFetch(): Promise<Loaded> {
    if (this.#nextFetch === undefined) {
      this.#nextFetch = this.#lastFetch.then(() => {
        this.#nextFetch = undefined
        return this.#catchUp()
      })
      this.#lastFetch = this.#nextFetch.catch(() => {})
    }
    return this.#nextFetch
  }

  async #catchUp(): Promise<Loaded> {
    // Reads the version before the changes, so that the next read fetches a change made in between.
    const version = this.#store.version()
    const loaded = (await this.#applyChanges()) ?? (await load(this.#store))
    this.#loaded = loaded
    this.#version = version
    return loaded
  }

  /** Applies the changes since the last fetch. `undefined` if there are too many. */
  async #applyChanges(): Promise<Loaded | undefined> {
    if (this.#loaded === undefined) return undefined
    const changes = await this.#store.stockChangesSince(this.#loaded.cursor)
    if (changes === 'too_many') {
      // Releases the old list first, because two lists would take twice the memory.
      const { count } = this.#loaded.pages
      this.#loaded = undefined
      if (count >= MIN_ENTRIES_TO_COLLECT) Bun.gc(true)
      return undefined
    }
    const { pages } = this.#loaded
    for (const item of changes.set) pages.set(item)
    for (const petId of changes.removed) pages.remove(petId)
    return { pages, cursor: changes.cursor }
  }
}

/** The list as of a cursor of the log. */
interface Loaded {
  readonly pages: InventoryPages
  readonly cursor: string
}

async function load(store: ViewStore): Promise<Loaded> {
  const pages = new InventoryPages()
  const cursor = await store.loadStock((items) => {
    for (const item of items) pages.set(item)
  })
  // Serialises all pages now, so that the first read does not wait for it.
  pages.snapshot()
  return { pages, cursor }
}
