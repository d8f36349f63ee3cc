import Type from 'typebox'
import type { CatalogStore } from '../../core/catalog/catalog-store.ts'
import type { Pet } from '../../core/catalog/pet.ts'
import { type Page, type PageRequest, readPageById } from '../../core/values/page.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH, pageTextReply } from '../representation.ts'
import { CatalogEntry, cursorParameter, limitParameterUpTo } from '../resources.ts'

/** Pets that are read before other requests get a turn: a page may have thousands. */
const BATCH = 1_000

export const listCatalog = defineOperation({
  operationId: 'listCatalog',
  method: 'GET',
  path: '/catalog',
  summary: 'List names, categories and barcodes',
  description:
    'Returns the name, category, barcode and low-stock threshold of every pet, by petId ascending, in large pages. Together with GET /inventory it gives a readable list of the stock.',
  tag: 'pets',
  stability: 'beta',
  query: { limit: limitParameterUpTo(10_000, 1_000), cursor: cursorParameter },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of the catalog.', schema: Type.Array(CatalogEntry), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request }, { store }) => {
    const { rows, next } = await readCatalogPage(store, query)
    return pageTextReply(request, query, `[${rows.join()}]`, next)
  },
})

/** Returns the rows as JSON text, like the entries of the inventory. */
async function readCatalogPage(
  store: Pick<CatalogStore, 'listPets'>,
  { limit, cursor }: PageRequest,
): Promise<Page<string>> {
  const rows: string[] = []
  let next = cursor
  for (;;) {
    const batch = { limit: Math.min(limit - rows.length, BATCH), cursor: next }
    const page = await readPageById(batch, (count, after) => store.listPets({ after }, count))
    for (const pet of page.rows) rows.push(rowJson(pet))
    next = page.next
    if (next === undefined || rows.length === limit) return { rows, next }
    await new Promise(setImmediate)
  }
}

function rowJson({ id, name, categoryId, barcode, lowStockAt }: Pet): string {
  const barcodeJson = barcode === undefined ? '' : `,"barcode":${JSON.stringify(barcode)}`
  const lowStockJson = lowStockAt === undefined ? '' : `,"lowStockAt":${lowStockAt}`
  return `{"petId":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${barcodeJson}${lowStockJson}}`
}
