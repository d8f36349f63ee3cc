import type { MaybePromise } from '../../values/maybe-promise.ts'
import type { InventoryItem } from '../inventory.ts'
import type { StockStore } from '../stock-store.ts'
import { InventoryPages, type InventorySnapshot } from './inventory-pages.ts'

type ViewStore = Pick<StockStore, 'version' | 'loadStock' | 'stockChangesSince'>

/** A list of so many is worth a collection of garbage before the next one is loaded: docs/decisions/2026-11-15-live-view.md. */
const MIN_ENTRIES_TO_COLLECT = 100_000

/**
 * The stock in memory, ready to send, and never behind: a read that begins after a change was acknowledged, by
 * whichever process, sees it. Before a read it asks the store what changed. Readers that arrive together share one
 * such round, but a reader only joins a round that has not begun, since one under way may have asked too early.
 */
export class LiveView {
  readonly #store: ViewStore
  /** Nothing while all of it is being loaded anew. */
  #loaded: Loaded | undefined
  /** The store's version that is known to be shown. */
  #version: number | undefined
  #waiting: Promise<Loaded> | undefined
  #lastRound: Promise<unknown> = Promise.resolve()

  static async open(store: ViewStore): Promise<LiveView> {
    const version = store.version()
    return new LiveView(store, await load(store), version)
  }

  private constructor(store: ViewStore, loaded: Loaded, version: number | undefined) {
    this.#store = store
    this.#loaded = loaded
    this.#version = version
  }

  /** How many entries were loaded. */
  get count(): number {
    return this.#loaded?.pages.count ?? 0
  }

  /** The list as it is now. At once where the store knows that nothing changed. */
  current(): MaybePromise<InventorySnapshot> {
    return this.#whenCurrent(({ pages }) => pages.snapshot())
  }

  find(petId: bigint): MaybePromise<InventoryItem | undefined> {
    return this.#whenCurrent(({ pages }) => pages.get(petId))
  }

  #whenCurrent<T>(read: (loaded: Loaded) => T): MaybePromise<T> {
    const version = this.#store.version()
    const isCurrent = version !== undefined && version === this.#version
    return isCurrent && this.#loaded !== undefined ? read(this.#loaded) : this.#nextRound().then(read)
  }

  #nextRound(): Promise<Loaded> {
    if (this.#waiting === undefined) {
      this.#waiting = this.#lastRound.then(() => {
        this.#waiting = undefined
        return this.#catchUp()
      })
      this.#lastRound = this.#waiting.catch(() => {})
    }
    return this.#waiting
  }

  async #catchUp(): Promise<Loaded> {
    // Taken before asking: a change in between is asked for once more, never missed.
    const version = this.#store.version()
    const loaded = (await this.#follow()) ?? (await load(this.#store))
    this.#loaded = loaded
    this.#version = version
    return loaded
  }

  /** Makes the changes since the last round; undefined where there are too many of them. */
  async #follow(): Promise<Loaded | undefined> {
    if (this.#loaded === undefined) return undefined
    const changes = await this.#store.stockChangesSince(this.#loaded.cursor)
    if (changes === 'too_many') {
      // Two lists at once would take twice the memory.
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

/** What was read of the store, up to a cursor of its log. */
interface Loaded {
  readonly pages: InventoryPages
  readonly cursor: string
}

async function load(store: ViewStore): Promise<Loaded> {
  const pages = new InventoryPages()
  const cursor = await store.loadStock((items) => {
    for (const item of items) pages.set(item)
  })
  // Serialises everything now, so that the first reader need not wait for it.
  pages.snapshot()
  return { pages, cursor }
}
