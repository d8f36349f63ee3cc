import type { ChangingStock } from '../stock/changing-stock.ts'
import type { FoundEntry } from '../stock/inventory.ts'
import type { CatalogOutcome, CatalogRequest, CategoryUpdate, ChangeOrigin } from '../stock/stock-request.ts'
import { isSameRecord, withUpdate } from '../values/field.ts'
import { CATEGORY, type Category, type CategoryDraft } from './category.ts'
import { PET, type Pet, type PetDraft, type PetPatch } from './pet.ts'

/** What a commit about the catalogue finds, under its lock. */
export interface CatalogFound {
  /** Those that are named and are there. */
  readonly pets: ReadonlyMap<bigint, Pet>
  /** Those that are named, or are those of the pets that are named. */
  readonly categories: ReadonlyMap<bigint, Category>
  /** Of the barcodes that are named, which pets have them. */
  readonly barcodes: ReadonlyMap<string, bigint>
  /** Those of the categories to be removed that have pets. */
  readonly usedCategories: ReadonlySet<bigint>
  /** For pets and categories that are made without one, as many as may be. */
  readonly newPetIds: readonly bigint[]
  readonly newCategoryIds: readonly bigint[]
}

/** What is written of the catalogue, beside the log and the stock. */
export interface CatalogChanges {
  /** As it is from then on, with its entry; `undefined` where it is gone. */
  readonly pets: ReadonlyMap<bigint, { readonly pet: Pet; readonly entry: FoundEntry } | undefined>
  readonly categories: ReadonlyMap<bigint, Category | undefined>
  /** Categories whose pets get another threshold, as far as they have none of their own. */
  readonly newThresholds: readonly (Category & { readonly by: ChangeOrigin })[]
}

/** The catalogue as the requests so far have left it. */
export class ChangingCatalog {
  readonly #stock: ChangingStock
  readonly #found: CatalogFound
  readonly #pets = new Map<bigint, Pet | undefined>()
  readonly #categories = new Map<bigint, Category | undefined>()
  readonly #barcodes = new Map<string, bigint | undefined>()
  readonly #newThresholds: CatalogChanges['newThresholds'][number][] = []
  #idsTaken = 0
  #categoryIdsTaken = 0

  constructor(stock: ChangingStock, found: CatalogFound) {
    this.#stock = stock
    this.#found = found
  }

  get changes(): CatalogChanges {
    return {
      pets: new Map(
        Array.from(this.#pets, ([id, pet]) => {
          const entry = this.#stock.entry(id)
          return [id, pet === undefined || entry === undefined ? undefined : { pet, entry }]
        }),
      ),
      categories: this.#categories,
      newThresholds: this.#newThresholds,
    }
  }

  decide(request: CatalogRequest): CatalogOutcome {
    if ('newPet' in request) return this.#create(request.newPet, request)
    if ('petPatch' in request) return this.#change(request.petId, request.petPatch, request)
    if ('removedPet' in request) return this.#remove(request.removedPet, request)
    if ('newCategory' in request) return this.#createCategory(request.newCategory, request)
    if ('categoryPatch' in request) return this.#changeCategory(request)
    return this.#removeCategory(request.removedCategory, request)
  }

  #create(draft: PetDraft, by: ChangeOrigin): CatalogOutcome {
    const { quantity = 0, status = 'available', id: given, ...record } = draft
    const category = this.#category(draft.categoryId)
    if (category === undefined) return { unknownCategory: draft.categoryId }
    const id = given ?? this.#newId()
    if (this.#stock.entry(id) !== undefined) return { taken: { id } }
    const obstacle = this.#barcodeObstacle(id, draft.barcode)
    if (obstacle !== undefined) return obstacle
    return this.#put({ id, status, ...record }, category, { quantity, reserved: 0 }, by)
  }

  #change(petId: bigint, patch: PetPatch, by: ChangeOrigin): CatalogOutcome {
    const before = this.#pet(petId)
    const entry = this.#stock.entry(petId)
    const categoryId = patch.categoryId ?? before?.categoryId
    const category = categoryId === undefined ? undefined : this.#category(categoryId)
    // A fault of the request is told before that there is no such pet.
    if (category === undefined && categoryId !== undefined) return { unknownCategory: categoryId }
    if (before === undefined || entry === undefined || category === undefined) return 'unknown_pet'
    const pet = withUpdate(before, patch)
    if (isSameRecord(PET, before, pet)) return { pet: { ...pet, quantity: entry.quantity } }
    const obstacle = this.#barcodeObstacle(petId, pet.barcode)
    if (obstacle !== undefined) return obstacle
    if (before.barcode !== undefined) this.#barcodes.set(before.barcode, undefined)
    return this.#put(pet, category, entry, by)
  }

  #put(
    pet: Pet,
    category: Category,
    { quantity, reserved }: Pick<FoundEntry, 'quantity' | 'reserved'>,
    by: ChangeOrigin,
  ): CatalogOutcome {
    const lowStockAt = pet.lowStockAt ?? category.lowStockAt ?? null
    this.#stock.putPet(pet, { quantity, reserved, status: pet.status, lowStockAt }, by)
    this.#pets.set(pet.id, pet)
    if (pet.barcode !== undefined) this.#barcodes.set(pet.barcode, pet.id)
    return { pet: { ...pet, quantity } }
  }

  #remove(petId: bigint, by: ChangeOrigin): CatalogOutcome {
    const entry = this.#stock.entry(petId)
    if (entry === undefined) return 'unknown_pet'
    if (entry.reserved > 0) return { inUse: { pet: petId, reserved: entry.reserved } }
    const barcode = this.#pet(petId)?.barcode
    if (barcode !== undefined) this.#barcodes.set(barcode, undefined)
    this.#stock.removePet(petId, by)
    this.#pets.set(petId, undefined)
    return { removed: petId }
  }

  #createCategory(draft: CategoryDraft, by: ChangeOrigin): CatalogOutcome {
    const { id: given, ...record } = draft
    const id = given ?? this.#newCategoryId()
    if (this.#category(id) !== undefined) return { taken: { categoryId: id } }
    const category = { id, ...record }
    this.#categories.set(id, category)
    this.#stock.tellCategory(category, 'created', by)
    return { category }
  }

  #changeCategory(request: CategoryUpdate): CatalogOutcome {
    const { categoryId, categoryPatch } = request
    const before = this.#category(categoryId)
    if (before === undefined) return { unknownCategory: categoryId }
    const category = withUpdate(before, categoryPatch)
    if (isSameRecord(CATEGORY, before, category)) return { category }
    this.#categories.set(categoryId, category)
    if (category.lowStockAt !== before.lowStockAt) this.#newThresholds.push({ ...category, by: request })
    this.#stock.tellCategory(category, 'changed', request)
    return { category }
  }

  #removeCategory(categoryId: bigint, by: ChangeOrigin): CatalogOutcome {
    const category = this.#category(categoryId)
    if (category === undefined) return { unknownCategory: categoryId }
    if (this.#found.usedCategories.has(categoryId)) return { inUse: { category: categoryId } }
    this.#categories.set(categoryId, undefined)
    this.#stock.tellCategory(category, 'removed', by)
    return { removed: categoryId }
  }

  #pet(petId: bigint): Pet | undefined {
    return this.#pets.has(petId) ? this.#pets.get(petId) : this.#found.pets.get(petId)
  }

  #category(categoryId: bigint): Category | undefined {
    return this.#categories.has(categoryId)
      ? this.#categories.get(categoryId)
      : this.#found.categories.get(categoryId)
  }

  #barcodeObstacle(petId: bigint, barcode: string | undefined): CatalogOutcome | undefined {
    if (barcode === undefined) return undefined
    const owner = this.#barcodes.has(barcode)
      ? this.#barcodes.get(barcode)
      : this.#found.barcodes.get(barcode)
    return owner === undefined || owner === petId ? undefined : { taken: { barcode, by: owner } }
  }

  /** Passes over those that callers have chosen in this commit. */
  #newId(): bigint {
    for (;;) {
      const id = this.#found.newPetIds[this.#idsTaken++]
      if (id === undefined) throw new Error(`there are only ${this.#found.newPetIds.length} ids for new pets`)
      if (this.#stock.entry(id) === undefined) return id
    }
  }

  #newCategoryId(): bigint {
    const id = this.#found.newCategoryIds[this.#categoryIdsTaken++]
    if (id === undefined) {
      throw new Error(`there are only ${this.#found.newCategoryIds.length} ids for new categories`)
    }
    return id
  }
}
