import type { InventorySearch, Page, PetstoreClient, SearchRow } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { Observable, type Readable } from '../observable.ts'
import type { StockModel } from './stock-model.ts'
import type { Sort, TableFilter } from './table-state.ts'

/** Reads a page of a search into the model. Throws if the service does. */
export type ReadPage = (
  query: InventorySearch & { readonly limit?: number },
  cursor?: string,
  signal?: AbortSignal,
) => Promise<Page<SearchRow>>

export interface SearchState {
  /** The pets that were found so far, in their order. */
  readonly petIds: readonly bigint[]
  readonly hasMore: boolean
  readonly phase: 'loading' | 'ready' | 'failed'
  /** Why the last request failed, in words for the user. */
  readonly failure: string | undefined
}

/** A search on the server, loaded page by page. The rows are in the model, where events keep them current. */
export class StockSearch implements Readable<SearchState> {
  readonly #state = new Observable<SearchState>({
    petIds: [],
    hasMore: false,
    phase: 'loading',
    failure: undefined,
  })
  readonly #read: ReadPage
  readonly #query: InventorySearch
  #next: string | undefined
  #loading: Promise<void> | undefined

  readonly get = this.#state.get
  readonly subscribe = this.#state.subscribe

  constructor(read: ReadPage, query: InventorySearch = {}) {
    this.#read = read
    this.#query = query
  }

  /** Loads the first page again. */
  async reload(): Promise<void> {
    await this.#loading
    await this.#load(undefined, [])
  }

  /** Loads the next page if there is one. */
  async loadMore(): Promise<void> {
    const { petIds, hasMore } = this.get()
    if (this.#loading === undefined && hasMore) await this.#load(this.#next, petIds)
    else await this.#loading
  }

  async #load(cursor: string | undefined, before: readonly bigint[]): Promise<void> {
    this.#loading = this.#readPage(cursor, before)
    await this.#loading
    this.#loading = undefined
  }

  async #readPage(cursor: string | undefined, before: readonly bigint[]): Promise<void> {
    try {
      const { items, next } = await this.#read(this.#query, cursor)
      this.#next = next
      const petIds = [...before, ...items.map(({ petId }) => petId)]
      this.#state.set({ petIds, hasMore: next !== undefined, phase: 'ready', failure: undefined })
    } catch (error) {
      this.#state.set({ ...this.get(), phase: 'failed', failure: failureWords(error) })
    }
  }
}

export function searchQueryOf(filter: TableFilter, { column, isDescending }: Sort): InventorySearch {
  const { query, status, categoryId, lowOnly } = filter
  const by = column === 'free' ? 'available' : column
  return {
    sort: isDescending ? `-${by}` : by,
    ...(query.trim() === '' ? {} : { q: query.trim() }),
    ...(status === 'all' ? {} : { status }),
    ...(categoryId === undefined ? {} : { categoryId }),
    ...(lowOnly ? { low: true } : {}),
  }
}

/** Puts the rows of a search and their barcodes into the model. */
export function takeFound(stock: StockModel, found: readonly SearchRow[]): void {
  stock.barcodes.take(found)
  stock.take(
    found.map(({ ownLowStockAt, lowStockAt: _effective, ...row }) => ({ ...row, lowStockAt: ownLowStockAt })),
  )
}

export interface Lookup {
  readonly client: PetstoreClient
  readonly stock: StockModel
  readonly signal: AbortSignal
}

/** Reads every pet that a search finds into the model; `undefined` if there are more than `max`. */
export async function readAll(
  read: ReadPage,
  query: InventorySearch,
  max: number,
  signal?: AbortSignal,
): Promise<readonly bigint[] | undefined> {
  const petIds: bigint[] = []
  let cursor: string | undefined
  do {
    const page = await read(query, cursor, signal)
    petIds.push(...page.items.map(({ petId }) => petId))
    if (petIds.length > max) return undefined
    cursor = page.next
  } while (cursor !== undefined)
  return petIds
}

/** A search for an id finds its pet by one request, unless many names have a word that starts with the same digits. */
const FOUND_WITH_ID = 8

/** Loads one pet that the page does not hold. Throws `not_found` if the store does not have it. */
export async function loadPet(
  { client, stock, signal }: Lookup,
  read: ReadPage,
  petId: bigint,
): Promise<void> {
  await read({ q: String(petId), limit: FOUND_WITH_ID })
  if (stock.find(petId) !== undefined) return
  const [pet, availability] = await Promise.all([
    client.pets.get(petId, { signal }),
    client.inventory.availability(petId, { signal }),
  ])
  const { quantity, reserved } = availability
  stock.barcodes.take([{ petId, barcode: pet.barcode }])
  stock.apply({ ...pet, petId, quantity, reserved }, false)
}
