import type { Category, InventoryEvent, PetstoreClient } from '@petstore/client'
import type { LiveChanges } from '../history/live-changes.ts'
import { LiveList } from '../live-list.ts'
import { State } from '../observable.ts'
import { thresholdOf } from '../stock/free-units.ts'
import type { StockModel } from '../stock/stock-model.ts'
import type { CategoryList } from './category-list.ts'

interface CategoriesContext {
  readonly client: Pick<PetstoreClient, 'categories'>
  readonly stock: StockModel
  readonly events: LiveChanges<InventoryEvent>
  readonly signal: AbortSignal
}

const RETRY_MS = 15_000

/** The categories of the store. They are few and change rarely. */
export class Categories extends State<CategoryList> {
  readonly #context: CategoriesContext
  readonly #list: LiveList<Category, InventoryEvent>

  constructor(context: CategoriesContext) {
    super({ byId: new Map(), isKnown: false })
    this.#context = context
    this.#list = new LiveList<Category, InventoryEvent>({
      keyOf: ({ id }) => id,
      events: context.events,
      concerns: (event) => this.#isNews(event),
      load: async (_, signal) => {
        const items: Category[] = []
        for await (const category of context.client.categories.list({ signal })) items.push(category)
        return { items }
      },
    })
    this.#list.subscribe(() => {
      const { rows, phase } = this.#list.get()
      if (phase === 'ready') this.setValue({ byId: new Map(rows.map((row) => [row.id, row])), isKnown: true })
    })
  }

  /** Loads the categories once the stock has its names, and again when an event shows that they have changed. */
  start(): void {
    const { stock, signal } = this.#context
    const unsubscribe = stock.subscribe(() => {
      if (!stock.get().hasNames) return
      unsubscribe()
      this.#list.follow()
    })
    const retry = setInterval(() => {
      if (this.#list.get().failure !== undefined) void this.reload()
    }, RETRY_MS)
    signal.addEventListener('abort', () => {
      unsubscribe()
      clearInterval(retry)
      this.#list.stop()
    })
  }

  /** Loads the categories at once, such as before an import is planned. */
  reload(): Promise<void> {
    return this.#list.reload()
  }

  take(category: Category): void {
    this.#list.put(category)
  }

  drop(categoryId: bigint): void {
    this.#list.remove(categoryId)
  }

  /** Whether a category changed, a pet is in an unknown one, or its category has another threshold than the page knows. */
  #isNews(event: InventoryEvent): boolean {
    if (event.type === 'category') return true
    if (event.type === 'pet') return !this.get().byId.has(event.categoryId)
    if (event.type !== 'low' && event.type !== 'recovered') return false
    const row = this.#context.stock.find(event.petId)
    return row?.categoryId !== undefined && thresholdOf(row, this.get()) !== event.lowStockAt
  }
}
