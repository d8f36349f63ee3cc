import type {
  CatalogEntry,
  Category,
  CategoryUpdate,
  NewCategory,
  NewPet,
  Operations,
  Pet,
  PetBatch,
  PetBatchResult,
  PetUpdate,
  SearchRow,
} from './contract-types.ts'
import { type CallOptions, callForValue, callOperation, type WriteOptions } from './operation-call.ts'
import { allItems, type Page, type PageOptions, pageOf } from './pages.ts'
import type { Transport } from './transport.ts'

export interface PetFilter {
  readonly status?: Pet['status']
}

/** What is searched for; see the contract. */
export type InventorySearch = Omit<Operations['searchInventory']['query'], 'limit' | 'cursor'>

/** The pets and their categories. */
export class CatalogClient {
  readonly #calls: Transport

  constructor(transport: Transport) {
    this.#calls = transport
  }

  /** A page of the pets, with their stock, that fit all that is given. */
  async searchInventory({ signal, ...query }: InventorySearch & PageOptions = {}): Promise<Page<SearchRow>> {
    const { value, headers } = await callForValue(this.#calls, 'searchInventory', { query, signal })
    return pageOf(value, headers)
  }

  /** All of them. */
  searchAllInventory({ signal, ...search }: InventorySearch & CallOptions = {}): AsyncIterable<SearchRow> {
    return allItems((cursor) => this.searchInventory({ ...search, limit: 1_000, cursor, signal }))
  }

  /** A page of the pets, by id. */
  async listPets({ status, limit, cursor, signal }: PetFilter & PageOptions = {}): Promise<Page<Pet>> {
    const input = { query: { status, limit, cursor }, signal }
    const { value, headers } = await callForValue(this.#calls, 'listPets', input)
    return pageOf(value, headers)
  }

  /** All pets, by id. */
  allPets({ status, signal }: PetFilter & CallOptions = {}): AsyncIterable<Pet> {
    const filter = status === undefined ? {} : { status }
    return allItems((cursor) => this.listPets({ ...filter, limit: 100, cursor, signal }))
  }

  /** @deprecated The service ends this operation on its sunset date; use `listPets`. */
  async getPet(petId: bigint, { signal }: CallOptions = {}): Promise<Pet> {
    return (await callForValue(this.#calls, 'getPet', { params: { petId }, signal })).value
  }

  async getCatalogPet(petId: bigint, { signal }: CallOptions = {}): Promise<Pet> {
    return (await callForValue(this.#calls, 'getCatalogPet', { params: { petId }, signal })).value
  }

  /** A page of the names, categories, barcodes and thresholds, by petId: 1 to 10,000 of them, 1,000 by default. */
  async listCatalog({ limit, cursor, signal }: PageOptions = {}): Promise<Page<CatalogEntry>> {
    const input = { query: { limit, cursor }, signal }
    const { value, headers } = await callForValue(this.#calls, 'listCatalog', input)
    return pageOf(value, headers)
  }

  /** All of them, by petId. */
  allCatalog({ signal }: CallOptions = {}): AsyncIterable<CatalogEntry> {
    return allItems((cursor) => this.listCatalog({ limit: 10_000, cursor, signal }))
  }

  /** Adds a pet, and its inventory entry with it. Throws `already_exists` where its id or its barcode is taken. */
  async createPet(pet: NewPet, options: WriteOptions = {}): Promise<Pet> {
    return (await callForValue(this.#calls, 'createPet', { body: pet, ...options })).value
  }

  /** Changes what `update` names; null takes a barcode or a threshold away. */
  async updatePet(petId: bigint, update: PetUpdate, options: WriteOptions = {}): Promise<Pet> {
    const input = { params: { petId }, body: update, ...options }
    return (await callForValue(this.#calls, 'updatePet', input)).value
  }

  /** Creates or updates up to 1,000 pets, all or none. `details` of the error has every pet that failed. */
  async upsertPets(batch: PetBatch, options: WriteOptions = {}): Promise<PetBatchResult> {
    return (await callForValue(this.#calls, 'upsertPets', { body: batch, ...options })).value
  }

  /** Throws `in_use` while orders of it are open. */
  async removePet(petId: bigint, options: WriteOptions = {}): Promise<void> {
    await callOperation(this.#calls, 'removePet', { params: { petId }, ...options })
  }

  /** A page of the categories, by id: 1 to 1,000 of them, 100 by default. */
  async listCategories({ limit, cursor, signal }: PageOptions = {}): Promise<Page<Category>> {
    const input = { query: { limit, cursor }, signal }
    const { value, headers } = await callForValue(this.#calls, 'listCategories', input)
    return pageOf(value, headers)
  }

  /** All categories, by id. */
  allCategories({ signal }: CallOptions = {}): AsyncIterable<Category> {
    return allItems((cursor) => this.listCategories({ limit: 1_000, cursor, signal }))
  }

  async createCategory(category: NewCategory, options: WriteOptions = {}): Promise<Category> {
    return (await callForValue(this.#calls, 'createCategory', { body: category, ...options })).value
  }

  async updateCategory(
    categoryId: bigint,
    update: CategoryUpdate,
    options: WriteOptions = {},
  ): Promise<Category> {
    const input = { params: { categoryId }, body: update, ...options }
    return (await callForValue(this.#calls, 'updateCategory', input)).value
  }

  /** Throws `in_use` while it has pets. */
  async removeCategory(categoryId: bigint, options: WriteOptions = {}): Promise<void> {
    await callOperation(this.#calls, 'removeCategory', { params: { categoryId }, ...options })
  }
}
