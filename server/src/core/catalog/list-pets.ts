import type { PetStatus } from '../stock/inventory.ts'
import { ServiceError } from '../values/errors.ts'
import { parseInt64 } from '../values/int64.ts'
import { type PageRequest, unknownCursor } from '../values/page-request.ts'
import type { CatalogStore } from './catalog-store.ts'
import type { Category } from './category.ts'
import type { Pet } from './pet.ts'

/** Pets read before others get a turn: a page may have thousands. */
const BATCH = 1_000

/** A page of pets by id ascending, and the cursor of the next one where there is one. */
export async function listPetPage(
  store: Pick<CatalogStore, 'listPets'>,
  { status, limit, cursor }: PageRequest & { readonly status: PetStatus | undefined },
): Promise<{ pets: readonly Pet[]; next: string | undefined }> {
  const after = cursor === undefined ? undefined : parseInt64(cursor)
  if (cursor !== undefined && after === undefined) throw unknownCursor(cursor)
  const filter = { ...(status === undefined ? {} : { status }), ...(after === undefined ? {} : { after }) }
  // One more than asked for tells whether there is a next page.
  const found = await store.listPets(filter, limit + 1)
  const pets = found.slice(0, limit)
  return { pets, next: found.length > limit ? String(pets.at(-1)?.id) : undefined }
}

export async function requirePet(store: Pick<CatalogStore, 'findPet'>, petId: bigint): Promise<Pet> {
  const pet = await store.findPet(petId)
  if (pet === undefined) throw noPet(petId)
  return pet
}

export function noPet(petId: bigint): ServiceError {
  return new ServiceError('not_found', `there is no pet with petId ${petId}`)
}

/** A page of categories by id ascending, and the cursor of the next one where there is one. */
export async function listCategoryPage(
  store: Pick<CatalogStore, 'listCategories'>,
  { limit, cursor }: PageRequest,
): Promise<{ categories: readonly Category[]; next: string | undefined }> {
  const after = cursor === undefined ? undefined : parseInt64(cursor)
  if (cursor !== undefined && after === undefined) throw unknownCursor(cursor)
  // One more than asked for tells whether there is a next page.
  const found = await store.listCategories(after, limit + 1)
  const categories = found.slice(0, limit)
  return { categories, next: found.length > limit ? String(categories.at(-1)?.id) : undefined }
}

/** A page of names, categories, barcodes and thresholds by petId ascending, as JSON, and the cursor of the next one where there is one. */
export async function catalogPage(
  store: Pick<CatalogStore, 'listPets'>,
  { limit, cursor }: PageRequest,
): Promise<{ json: string; next: string | undefined }> {
  const rows: string[] = []
  let next = cursor
  for (;;) {
    const wanted = Math.min(limit - rows.length, BATCH)
    const page = await listPetPage(store, { status: undefined, limit: wanted, cursor: next })
    for (const pet of page.pets) rows.push(rowJson(pet))
    next = page.next
    if (next === undefined || rows.length === limit) return { json: `[${rows.join()}]`, next }
    await new Promise(setImmediate)
  }
}

/** Written out, like an entry of the inventory. */
function rowJson({ id, name, categoryId, barcode, lowStockAt }: Pet): string {
  const barcodeJson = barcode === undefined ? '' : `,"barcode":${JSON.stringify(barcode)}`
  const lowStockJson = lowStockAt === undefined ? '' : `,"lowStockAt":${lowStockAt}`
  return `{"petId":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${barcodeJson}${lowStockJson}}`
}
