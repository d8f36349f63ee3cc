import type { Eventually } from './eventually.ts'
import type { InventoryItem } from './inventory.ts'
import { InventoryPages, type InventorySnapshot } from './inventory-pages.ts'
import type { Store } from './store.ts'

type StockStore = Pick<Store, 'version' | 'loadStock' | 'stockChangesSince'>

/**
 * The stock in memory, ready to send, and never behind: a read that begins after a change was acknowledged, by
 * whichever process, sees it. Before a read it asks the store what changed. Readers that arrive together share one
 * such round, but a reader only joins a round that has not begun, since one under way may have asked too early.
 */
export class LiveView {
  readonly #store: StockStore
  #pages: InventoryPages
  #cursor: string
  /** The store's version that the pages are known to show. */
  #version: number | undefined
  #waiting: Promise<void> | undefined
  #lastRound: Promise<unknown> = Promise.resolve()

  static async open(store: StockStore): Promise<LiveView> {
    const version = store.version()
    const { pages, cursor } = await load(store)
    return new LiveView(store, pages, cursor, version)
  }

  private constructor(store: StockStore, pages: InventoryPages, cursor: string, version: number | undefined) {
    this.#store = store
    this.#pages = pages
    this.#cursor = cursor
    this.#version = version
  }

  /** The list as it is now. At once where the store knows that nothing changed. */
  current(): Eventually<InventorySnapshot> {
    return this.#isCurrent() ? this.#pages.snapshot() : this.#nextRound().then(() => this.#pages.snapshot())
  }

  /** One entry as it is now. */
  find(petId: bigint): Eventually<InventoryItem | undefined> {
    return this.#isCurrent() ? this.#pages.get(petId) : this.#nextRound().then(() => this.#pages.get(petId))
  }

  #isCurrent(): boolean {
    const version = this.#store.version()
    return version !== undefined && version === this.#version
  }

  #nextRound(): Promise<void> {
    if (this.#waiting === undefined) {
      this.#waiting = this.#lastRound.then(() => {
        this.#waiting = undefined
        return this.#catchUp()
      })
      this.#lastRound = this.#waiting.catch(() => {})
    }
    return this.#waiting
  }

  async #catchUp(): Promise<void> {
    // Taken before asking: a change in between is asked for once more, never missed.
    const version = this.#store.version()
    const changes = await this.#store.stockChangesSince(this.#cursor)
    if (changes === 'too_many') {
      const { pages, cursor } = await load(this.#store)
      this.#pages = pages
      this.#cursor = cursor
    } else {
      for (const item of changes.set) this.#pages.set(item)
      for (const petId of changes.removed) this.#pages.remove(petId)
      this.#cursor = changes.cursor
    }
    this.#version = version
  }
}

async function load(store: StockStore): Promise<{ pages: InventoryPages; cursor: string }> {
  const pages = new InventoryPages()
  const cursor = await store.loadStock((items) => {
    for (const item of items) pages.set(item)
  })
  // Serialises everything now, so that the first reader need not wait for it.
  pages.snapshot()
  return { pages, cursor }
}
