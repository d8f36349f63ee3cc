import type { Category, InventoryEvent, PetstoreClient } from '@petstore/client'
import type { LiveChanges } from '../history/live-changes.ts'
import { Observable, type Readable } from '../observable.ts'
import { thresholdOf } from '../stock/is-low.ts'
import type { StockModel } from '../stock/stock-model.ts'
import type { CategoryList } from './category-list.ts'

interface CategoriesContext {
  readonly client: Pick<PetstoreClient, 'categories'>
  readonly stock: StockModel
  readonly events: LiveChanges<InventoryEvent>
  readonly signal: AbortSignal
}

const AGAIN_MS = 15_000

/** The categories of the store, so that the page can call them by their names. They are few and change rarely. */
export class Categories implements Readable<CategoryList> {
  readonly #list = new Observable<CategoryList>({ byId: new Map(), isKnown: false })
  readonly #context: CategoriesContext
  #reading: Promise<void> | undefined
  #retrying: ReturnType<typeof setTimeout> | undefined

  readonly get = this.#list.get
  readonly subscribe = this.#list.subscribe

  constructor(context: CategoriesContext) {
    this.#context = context
  }

  /**
   * Reads them once the table has its names, and whenever a pet is told of that is in an unknown one, or low by another
   * threshold than is known.
   */
  start(): void {
    const { stock, events, signal } = this.#context
    const leave = events.subscribe((notice) => {
      const isNews = notice.type === 'missed' || this.#isNewTo(notice.change)
      if (isNews && this.get().isKnown) void this.reload()
    })
    const unsubscribe = stock.subscribe(() => {
      if (!stock.get().hasNames) return
      unsubscribe()
      void this.reload()
    })
    signal.addEventListener('abort', () => {
      leave()
      unsubscribe()
      clearTimeout(this.#retrying)
    })
  }

  /** Reads them anew. Nobody is told when somebody else renames one, so a view that edits them asks when it opens. */
  reload(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  /** Takes one as the service answered with it. */
  take(category: Category): void {
    this.#show(new Map(this.get().byId).set(category.id, category))
  }

  drop(categoryId: bigint): void {
    const byId = new Map(this.get().byId)
    byId.delete(categoryId)
    this.#show(byId)
  }

  #isNewTo(event: InventoryEvent): boolean {
    if (event.type === 'pet') return !this.get().byId.has(event.categoryId)
    if (event.type !== 'low' && event.type !== 'recovered') return false
    const row = this.#context.stock.find(event.petId)
    return row?.categoryId !== undefined && thresholdOf(row, this.get()) !== event.lowStockAt
  }

  async #read(): Promise<void> {
    const { client, signal } = this.#context
    try {
      const byId = new Map<bigint, Category>()
      for await (const category of client.categories.list({ signal })) byId.set(category.id, category)
      this.#list.set({ byId, isKnown: true })
    } catch {
      clearTimeout(this.#retrying)
      if (!signal.aborted) this.#retrying = setTimeout(() => void this.reload(), AGAIN_MS)
    }
  }

  #show(byId: ReadonlyMap<bigint, Category>): void {
    this.#list.set({ ...this.get(), byId })
  }
}
