import type { InventorySearch, Page, SearchRow } from '@petstore/client'
import { LiveList } from '../live-list.ts'
import type { SaveContext } from './own-request.ts'
import type { StockModel } from './stock-model.ts'
import type { Sort, TableFilter } from './table-state.ts'

/** The part of a session that reads the stock. */
export type Lookup = Pick<SaveContext, 'client' | 'stock' | 'signal'>

/** Reads a page of a search into the model. Throws if the service does. */
export type ReadPage = (
  query: InventorySearch & { readonly limit?: number },
  cursor?: string,
  signal?: AbortSignal,
) => Promise<Page<SearchRow>>

/** The pets that a search on the server finds. Their rows are in the model, where events keep them current. */
export type StockSearch = LiveList<bigint>

export function newStockSearch(read: ReadPage, query: InventorySearch = {}): StockSearch {
  return new LiveList<bigint>({
    keyOf: (petId) => petId,
    load: async (cursor) => {
      const { items, next } = await read(query, cursor)
      return { items: items.map(({ petId }) => petId), next }
    },
  })
}

export function searchQueryOf(filter: TableFilter, { column, isDescending }: Sort): InventorySearch {
  const { query, status, categoryId, lowOnly } = filter
  const by = column === 'free' ? 'available' : column
  return {
    sort: isDescending ? `-${by}` : by,
    q: query.trim() || undefined,
    status: status === 'all' ? undefined : status,
    categoryId,
    low: lowOnly || undefined,
  }
}

/** Puts the rows of a search and their barcodes into the model. */
export function takeSearchRows(stock: StockModel, rows: readonly SearchRow[]): void {
  stock.barcodes.take(rows)
  stock.take(
    rows.map(({ ownLowStockAt, lowStockAt: _effective, ...row }) => ({ ...row, lowStockAt: ownLowStockAt })),
  )
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

/** Asks the service for the pet with a barcode that the page does not know. Throws if the service does. */
export async function askForBarcode(
  { client, stock, signal }: Lookup,
  barcode: string,
): Promise<bigint | undefined> {
  const { items } = await client.inventory.search({ q: barcode, signal })
  // Events keep the other rows current; this response may be older.
  const isNew = ({ petId }: SearchRow) =>
    stock.find(petId) === undefined || stock.barcodes.byPet().get(petId) === undefined
  takeSearchRows(stock, items.filter(isNew))
  return stock.barcodes.find(barcode)
}
