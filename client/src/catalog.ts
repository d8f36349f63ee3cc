import type { PetBatchResult } from './contract-types.ts'
import type { IdInput, IdKind, Output } from './ids.ts'
import { fieldsOf, serializeBody } from './json.ts'
import type { CallOptions, Condition, WriteOptions } from './options.ts'
import type { Api, BodyOf, Filter, Query } from './request.ts'

export type EditFilter = Filter<'listPetEdits'>

export interface UpsertProgress<Ids extends IdKind = 'bigint'> {
  /** Pets saved so far. */
  readonly saved: number
  readonly created: number
  readonly updated: number
  /** The pets of the last batch, in the order given. */
  readonly pets: Output<PetBatchResult, Ids>['pets']
}

export interface UpsertOptions<Ids extends IdKind = 'bigint'> extends CallOptions {
  /** Called after each batch. */
  readonly onProgress?: ((progress: UpsertProgress<Ids>) => void) | undefined
}

export type Pets<Ids extends IdKind> = ReturnType<typeof createPets<Ids>>
export type Categories<Ids extends IdKind> = ReturnType<typeof createCategories<Ids>>
export type Catalog<Ids extends IdKind> = ReturnType<typeof createCatalog<Ids>>

/** Pets. A pet and its inventory entry are created and removed together. */
export function createPets<Ids extends IdKind>(api: Api<Ids>) {
  return {
    get: (petId: IdInput, options: CallOptions = {}) =>
      api.value('getCatalogPet', { params: { petId } }, options),

    /** When pets were created, changed and removed, newest first. A page may have fewer items than `limit`. */
    history: (options: Query<'listPetEdits'> & CallOptions = {}) => api.list('listPetEdits', options),

    /** Throws `already_exists` if the id or the barcode is already used. */
    create: (pet: BodyOf<'createPet'>, options: WriteOptions = {}) =>
      api.value('createPet', { body: pet }, options),

    /** Changes the given fields; null removes a barcode or a threshold. */
    update: (petId: IdInput, change: BodyOf<'updatePet'>, options: WriteOptions & Condition = {}) =>
      api.value('updatePet', { params: { petId }, body: change }, options),

    /** Throws `in_use` while the pet has open orders. */
    remove: (petId: IdInput, options: WriteOptions & Condition = {}) =>
      api.done('removePet', { params: { petId } }, options),

    /** Creates or updates up to 1,000 pets, all or none. */
    upsert: (batch: BodyOf<'upsertPets'>, options: WriteOptions = {}) =>
      api.value('upsertPets', { body: batch }, options),

    /**
     * Creates or updates any number of pets, in batches of up to 1,000. Each batch is saved completely or not at all.
     * If one fails, earlier batches stay saved, and `index` in the error's `details` counts within its batch.
     */
    upsertMany: async (
      pets: Iterable<UpsertedPet> | AsyncIterable<UpsertedPet>,
      { onProgress, ...options }: UpsertOptions<Ids> = {},
    ): Promise<{ readonly created: number; readonly updated: number }> => {
      let saved = 0
      let created = 0
      let updated = 0
      for await (const batch of batchesOf(pets)) {
        const result = await api.value('upsertPets', { body: { pets: batch } }, options)
        saved += batch.length
        created += result.created
        updated += result.updated
        onProgress?.({ saved, created, updated, pets: result.pets })
      }
      return { created, updated }
    },
  }
}

type UpsertedPet = BodyOf<'upsertPets'>['pets'][number]

const MAX_BATCH_PETS = 1_000
/** Below the limit of the service for the body of a batch, 256 KiB. */
const MAX_BATCH_BYTES = 250_000

/** The pets in batches that fit into one request each. */
async function* batchesOf(
  pets: Iterable<UpsertedPet> | AsyncIterable<UpsertedPet>,
): AsyncGenerator<readonly UpsertedPet[], void, undefined> {
  const encoder = new TextEncoder()
  let batch: UpsertedPet[] = []
  let bytes = 0
  for await (const pet of pets) {
    const size = encoder.encode(serializeBody(pet, fieldsOf('PetUpsert'))).length + 1
    if (batch.length === MAX_BATCH_PETS || (batch.length > 0 && bytes + size > MAX_BATCH_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(pet)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

/** Categories of pets. */
export function createCategories<Ids extends IdKind>(api: Api<Ids>) {
  return {
    /** Categories by id. */
    list: (options: Query<'listCategories'> & CallOptions = {}) => api.list('listCategories', options),

    create: (category: BodyOf<'createCategory'>, options: WriteOptions = {}) =>
      api.value('createCategory', { body: category }, options),

    /** Changes the given fields; null removes the threshold. */
    update: (categoryId: IdInput, change: BodyOf<'updateCategory'>, options: WriteOptions & Condition = {}) =>
      api.value('updateCategory', { params: { categoryId }, body: change }, options),

    /** Throws `in_use` while the category has pets. */
    remove: (categoryId: IdInput, options: WriteOptions & Condition = {}) =>
      api.done('removeCategory', { params: { categoryId } }, options),
  }
}

/** Names, categories, barcodes and thresholds of all pets, in large pages. */
export function createCatalog<Ids extends IdKind>(api: Api<Ids>) {
  return {
    /** Entries by petId; a page has up to 10,000. */
    list: (options: Query<'listCatalog'> & CallOptions = {}) => api.list('listCatalog', options),
  }
}
