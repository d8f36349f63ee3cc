import type { MaybePromise } from '../../values/maybe-promise.ts'
import { shareRuns } from '../../values/share-runs.ts'
import type { InventoryItem } from '../inventory.ts'
import type { StockStore } from '../stock-store.ts'
import { InventoryPages, type InventorySnapshot } from './inventory-pages.ts'

type ViewStore = Pick<StockStore, 'version' | 'loadStock' | 'stockChangesSince'>

/** A list of at least this size is garbage-collected before it is loaded again: docs/decisions/stock.md. */
const MIN_ENTRIES_FOR_GC = 100_000

/**
 * The stock in memory, ready to send. A read sees every change that any process acknowledged before the read began. If the
 * store may have changed, the read waits for a new fetch, because a fetch that is already running may miss a change.
 */
export class LiveView {
  readonly #store: ViewStore
  /** `undefined` while the whole list is being loaded again. */
  #loaded: LoadedStock | undefined
  /** The version of the store that the view shows. `undefined` if only a query could tell it; then every read fetches. */
  #version: number | undefined
  readonly #nextFetch = shareRuns(() => this.#fetch())

  static async open(store: ViewStore): Promise<LiveView> {
    const version = store.version()
    return new LiveView(store, await loadPages(store), version)
  }

  private constructor(store: ViewStore, loaded: LoadedStock, version: number | undefined) {
    this.#store = store
    this.#loaded = loaded
    this.#version = version
  }

  get count(): number {
    return this.#loaded?.pages.count ?? 0
  }

  /** The current list. Returns it without a promise if nothing has changed. */
  current(): MaybePromise<InventorySnapshot> {
    return this.#readCurrent(({ pages }) => pages.snapshot())
  }

  find(petId: bigint): MaybePromise<InventoryItem | undefined> {
    return this.#readCurrent(({ pages }) => pages.get(petId))
  }

  #readCurrent<T>(read: (loaded: LoadedStock) => T): MaybePromise<T> {
    const version = this.#store.version()
    const isCurrent = version !== undefined && version === this.#version
    return isCurrent && this.#loaded !== undefined ? read(this.#loaded) : this.#nextFetch().then(read)
  }

  async #fetch(): Promise<LoadedStock> {
    // The version is read before the changes: if a change is made in between, the next read finds another version and fetches
    // the change.
    const version = this.#store.version()
    const loaded = (await this.#applyChanges()) ?? (await loadPages(this.#store))
    this.#loaded = loaded
    this.#version = version
    return loaded
  }

  /** Applies the changes since the last fetch. Returns `undefined` if the whole list must be loaded instead. */
  async #applyChanges(): Promise<LoadedStock | undefined> {
    if (this.#loaded === undefined) return undefined
    const changes = await this.#store.stockChangesSince(this.#loaded.cursor)
    if (changes === 'reload') {
      // Releases the old list before the new list is loaded, so that they are not in memory together.
      const { count } = this.#loaded.pages
      this.#loaded = undefined
      if (count >= MIN_ENTRIES_FOR_GC) Bun.gc(true)
      return undefined
    }
    const { pages } = this.#loaded
    for (const item of changes.updated) pages.set(item)
    for (const petId of changes.removed) pages.remove(petId)
    return { pages, cursor: changes.cursor }
  }
}

/** The list with all changes up to the cursor. */
interface LoadedStock {
  readonly pages: InventoryPages
  readonly cursor: string
}

export async function loadPages(store: Pick<StockStore, 'loadStock'>): Promise<LoadedStock> {
  const pages = new InventoryPages()
  const cursor = await store.loadStock((items) => {
    for (const item of items) pages.set(item)
  })
  // Serialises all pages now, so that the first read does not have to.
  pages.snapshot()
  return { pages, cursor }
}
