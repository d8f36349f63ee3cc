import type {
  BarcodeTaken,
  ChangeOrigin,
  CreateCategory,
  CreatePet,
  OutcomeOf,
  RemoveCategory,
  RemovePet,
  UpdateCategory,
  UpdatePet,
} from '../stock/command.ts'
import type { LockedEntry } from '../stock/inventory.ts'
import type { StockDraft } from '../stock/stock-draft.ts'
import { isSameRecord, withUpdate } from '../values/field.ts'
import { CATEGORY, type Category } from './category.ts'
import { PET, type Pet, type StockedPet } from './pet.ts'

/** The part of the catalogue that a commit has locked and read. */
export interface LockedCatalog {
  /** The pets that the commands name, if they exist. */
  readonly pets: ReadonlyMap<bigint, Pet>
  /** The categories that the commands name, and the categories of the pets above. */
  readonly categories: ReadonlyMap<bigint, Category>
  /** The pet ids by barcode, for the barcodes that the commands name and that are in use. */
  readonly barcodes: ReadonlyMap<string, bigint>
  /** The categories that have pets, among those that the commands remove. */
  readonly categoriesWithPets: ReadonlySet<bigint>
  /** Free ids, enough for the pets and categories that the commands create without an id. */
  readonly newPetIds: readonly bigint[]
  readonly newCategoryIds: readonly bigint[]
}

/** The changes that the commit writes to the catalogue. */
export interface CatalogChanges {
  /** Each changed pet with its entry; `undefined` for a removed pet. */
  readonly pets: ReadonlyMap<bigint, { readonly pet: Pet; readonly entry: LockedEntry } | undefined>
  /** Each changed category; `undefined` for a removed category. */
  readonly categories: ReadonlyMap<bigint, Category | undefined>
  /** Categories with a new threshold. It applies to those of their pets that have no threshold of their own. */
  readonly newThresholds: readonly (Category & { readonly by: ChangeOrigin })[]
}

/** The catalogue that a commit is building. */
export class CatalogDraft {
  readonly #stock: StockDraft
  readonly #locked: LockedCatalog
  readonly #pets = new Map<bigint, Pet | undefined>()
  readonly #categories = new Map<bigint, Category | undefined>()
  readonly #barcodes = new Map<string, bigint | undefined>()
  readonly #newThresholds: CatalogChanges['newThresholds'][number][] = []
  #takenPetIdCount = 0
  #takenCategoryIdCount = 0

  constructor(stock: StockDraft, locked: LockedCatalog) {
    this.#stock = stock
    this.#locked = locked
  }

  get changes(): CatalogChanges {
    const pets = new Map<bigint, { pet: Pet; entry: LockedEntry } | undefined>()
    for (const [id, pet] of this.#pets) {
      const entry = this.#stock.findEntry(id)
      pets.set(id, pet === undefined || entry === undefined ? undefined : { pet, entry })
    }
    return { pets, categories: this.#categories, newThresholds: this.#newThresholds }
  }

  createPet(command: CreatePet): OutcomeOf<CreatePet> {
    const { quantity = 0, status = 'available', id: chosenId, ...record } = command.draft
    const { categoryId, barcode } = record
    const category = this.#findCategory(categoryId)
    if (category === undefined) return { type: 'invalid_category', categoryId }
    const id = chosenId ?? this.#takeNewPetId()
    if (this.#stock.findEntry(id) !== undefined) return { type: 'pet_exists', petId: id }
    const conflict = this.#findBarcodeConflict(id, barcode)
    if (conflict !== undefined) return conflict
    const pet = withUpdate(PET, { id, status, ...record })
    return { type: 'done', pet: this.#putPet(pet, category, { quantity, reserved: 0 }, command) }
  }

  updatePet(command: UpdatePet): OutcomeOf<UpdatePet> {
    const { petId, patch } = command
    const before = this.#findPet(petId)
    const entry = this.#stock.findEntry(petId)
    const categoryId = patch.categoryId ?? before?.categoryId
    const category = categoryId === undefined ? undefined : this.#findCategory(categoryId)
    // An unknown category is reported even if the pet is unknown as well.
    if (category === undefined && categoryId !== undefined) return { type: 'invalid_category', categoryId }
    if (before === undefined || entry === undefined || category === undefined) return { type: 'unknown_pet' }
    const pet = withUpdate(PET, before, patch)
    if (isSameRecord(PET, before, pet)) return { type: 'done', pet: { ...pet, quantity: entry.quantity } }
    const conflict = this.#findBarcodeConflict(petId, pet.barcode)
    if (conflict !== undefined) return conflict
    if (before.barcode !== undefined) this.#barcodes.set(before.barcode, undefined)
    return { type: 'done', pet: this.#putPet(pet, category, entry, command) }
  }

  removePet(command: RemovePet): OutcomeOf<RemovePet> {
    const { petId } = command
    const entry = this.#stock.findEntry(petId)
    if (entry === undefined) return { type: 'unknown_pet' }
    if (entry.reserved > 0) return { type: 'pet_reserved', reserved: entry.reserved }
    const barcode = this.#findPet(petId)?.barcode
    if (barcode !== undefined) this.#barcodes.set(barcode, undefined)
    this.#stock.removePet(petId, command)
    this.#pets.set(petId, undefined)
    return { type: 'done' }
  }

  createCategory(command: CreateCategory): OutcomeOf<CreateCategory> {
    const { id: chosenId, ...record } = command.draft
    const id = chosenId ?? this.#takeNewCategoryId()
    if (this.#findCategory(id) !== undefined) return { type: 'category_exists', categoryId: id }
    const category = withUpdate(CATEGORY, { id, ...record })
    this.#categories.set(id, category)
    this.#stock.logCategory(category, 'created', command)
    return { type: 'done', category }
  }

  updateCategory(command: UpdateCategory): OutcomeOf<UpdateCategory> {
    const { categoryId, patch } = command
    const before = this.#findCategory(categoryId)
    if (before === undefined) return { type: 'unknown_category' }
    const category = withUpdate(CATEGORY, before, patch)
    if (isSameRecord(CATEGORY, before, category)) return { type: 'done', category }
    this.#categories.set(categoryId, category)
    if (category.lowStockAt !== before.lowStockAt) this.#newThresholds.push({ ...category, by: command })
    this.#stock.logCategory(category, 'changed', command)
    return { type: 'done', category }
  }

  removeCategory(command: RemoveCategory): OutcomeOf<RemoveCategory> {
    const { categoryId } = command
    const category = this.#findCategory(categoryId)
    if (category === undefined) return { type: 'unknown_category' }
    if (this.#locked.categoriesWithPets.has(categoryId)) return { type: 'category_has_pets' }
    this.#categories.set(categoryId, undefined)
    this.#stock.logCategory(category, 'removed', command)
    return { type: 'done' }
  }

  #putPet(
    pet: Pet,
    category: Category,
    { quantity, reserved }: Pick<LockedEntry, 'quantity' | 'reserved'>,
    by: ChangeOrigin,
  ): StockedPet {
    const lowStockAt = pet.lowStockAt ?? category.lowStockAt ?? null
    this.#stock.putPet(pet, { quantity, reserved, status: pet.status, lowStockAt }, by)
    this.#pets.set(pet.id, pet)
    if (pet.barcode !== undefined) this.#barcodes.set(pet.barcode, pet.id)
    return { ...pet, quantity }
  }

  #findPet(petId: bigint): Pet | undefined {
    return this.#pets.has(petId) ? this.#pets.get(petId) : this.#locked.pets.get(petId)
  }

  #findCategory(categoryId: bigint): Category | undefined {
    return this.#categories.has(categoryId)
      ? this.#categories.get(categoryId)
      : this.#locked.categories.get(categoryId)
  }

  #findBarcodeConflict(petId: bigint, barcode: string | undefined): BarcodeTaken | undefined {
    if (barcode === undefined) return undefined
    const owner = this.#barcodes.has(barcode)
      ? this.#barcodes.get(barcode)
      : this.#locked.barcodes.get(barcode)
    return owner === undefined || owner === petId
      ? undefined
      : { type: 'barcode_taken', barcode, petId: owner }
  }

  /** Skips the ids that callers have chosen in this commit. */
  #takeNewPetId(): bigint {
    for (;;) {
      const id = this.#locked.newPetIds[this.#takenPetIdCount++]
      if (id === undefined)
        throw new Error(`there are only ${this.#locked.newPetIds.length} ids for new pets`)
      if (this.#stock.findEntry(id) === undefined) return id
    }
  }

  #takeNewCategoryId(): bigint {
    const id = this.#locked.newCategoryIds[this.#takenCategoryIdCount++]
    if (id === undefined) {
      throw new Error(`there are only ${this.#locked.newCategoryIds.length} ids for new categories`)
    }
    return id
  }
}
