import { randomUUID } from 'node:crypto'
import type { ChangeOrigin } from '../stock/change-origin.ts'
import type {
  BarcodeTaken,
  CategoryNameTaken,
  CommandOf,
  InvalidCategory,
  OutcomeOf,
} from '../stock/command.ts'
import type { LockedEntry } from '../stock/inventory.ts'
import { toFailure } from '../stock/refusal.ts'
import { type StockDraft, takeId, thresholdOf } from '../stock/stock-draft.ts'
import { type ErrorDetail, ServiceError } from '../values/errors.ts'
import { invalidField, isSameRecord, withUpdate } from '../values/field.ts'
import { allowsRecord } from '../values/record-tag.ts'
import { nameKey } from './catalog-fields.ts'
import { CATEGORY, type Category } from './category.ts'
import {
  barcodeTaken,
  invalidCategory,
  PET,
  type Pet,
  type PetPatch,
  type PetUpsert,
  type StockedPet,
} from './pet.ts'

/** The part of the catalogue that a commit has locked and read. */
export interface LockedCatalog {
  readonly pets: ReadonlyMap<bigint, Pet>
  /** The categories of the commands and of the pets above; all categories if a command gives a category a name. */
  readonly categories: ReadonlyMap<bigint, Category>
  /** The pet ids by barcode, for the barcodes that the commands name and that are in use. */
  readonly barcodes: ReadonlyMap<string, bigint>
  /** The categories that the commands remove and that have pets. */
  readonly categoriesWithPets: ReadonlySet<bigint>
  /** Free ids, enough for the pets and categories that the commands create without an id. */
  readonly newPetIds: readonly bigint[]
  readonly newCategoryIds: readonly bigint[]
}

/** The changes that the commit writes to the catalogue. */
export interface CatalogChanges {
  /** Each changed pet; `undefined` for a removed pet. */
  readonly pets: ReadonlyMap<bigint, Pet | undefined>
  /** Each changed category; `undefined` for a removed category. */
  readonly categories: ReadonlyMap<bigint, Category | undefined>
  /** The categories with a new threshold, each with a unique id of the change. */
  readonly thresholdChanges: ReadonlyMap<bigint, string>
}

interface PetWithEntry {
  readonly pet: Pet
  readonly entry: LockedEntry
}

/** A pet with a valid category and a free barcode. It is not part of the draft yet. */
interface PlannedPet {
  readonly type: 'planned'
  readonly pet: Pet
  /** `undefined` if the pet is new. */
  readonly before: Pet | undefined
  readonly category: Category
  readonly entry: Pick<LockedEntry, 'quantity'>
}

type PetPlan = PlannedPet | InvalidCategory | BarcodeTaken

/** The upsert would create a pet, but lacks its name or its category. */
type MissingFields = { readonly type: 'missing_fields' }

type NewPetFields = Omit<PetUpsert, 'id'> & Pick<Pet, 'name' | 'categoryId'>

/** The facts about the pets of one `upsert_pets` command that are needed to check each of them. */
interface Batch {
  /** The ids that the command names. New pets without an id must not get them. */
  readonly chosenIds: ReadonlySet<bigint>
  /** The barcodes that pets of the batch give up, so that other pets of the batch can have them. */
  readonly releasedBarcodes: ReadonlySet<string>
}

const NO_BATCH: Batch = { chosenIds: new Set(), releasedBarcodes: new Set() }

/** The catalogue that a commit is building. */
export class CatalogDraft {
  readonly #stock: StockDraft
  readonly #locked: LockedCatalog
  readonly #pets = new Map<bigint, Pet | undefined>()
  readonly #categories = new Map<bigint, Category | undefined>()
  readonly #barcodes = new Map<string, bigint | undefined>()
  readonly #thresholdChanges = new Map<bigint, string>()
  #takenPetIdCount = 0
  #takenCategoryIdCount = 0

  constructor(stock: StockDraft, locked: LockedCatalog) {
    this.#stock = stock
    this.#locked = locked
  }

  get changes(): CatalogChanges {
    return { pets: this.#pets, categories: this.#categories, thresholdChanges: this.#thresholdChanges }
  }

  createPet(command: CommandOf<'create_pet'>): OutcomeOf<'create_pet'> {
    const { id: chosenId, ...fields } = command.pet
    const id = chosenId ?? this.#takeNewPetId()
    const plan = this.#planNewPet(id, fields)
    // An unknown category is reported even if the pet exists.
    if (plan.type !== 'invalid_category' && this.#stock.findEntry(id) !== undefined)
      return { type: 'pet_exists', petId: id }
    return plan.type === 'planned' ? { type: 'done', pet: this.#putPet(plan, command) } : plan
  }

  updatePet(command: CommandOf<'update_pet'>): OutcomeOf<'update_pet'> {
    const { petId, patch } = command
    const existing = this.#findExisting(petId)
    if (existing === undefined) {
      const { categoryId } = patch
      // An unknown category is reported even if the pet is unknown as well.
      return categoryId === undefined || this.#findCategory(categoryId) !== undefined
        ? { type: 'unknown_pet' }
        : { type: 'invalid_category', categoryId }
    }
    if (!allowsRecord(command, PET, existing.pet)) return { type: 'record_changed' }
    const plan = this.#planUpdate(existing, patch)
    if (plan.type !== 'planned') return plan
    this.#releaseBarcode(plan)
    return { type: 'done', pet: this.#putPet(plan, command) }
  }

  /** Changes nothing if any of the pets fails. */
  upsertPets(command: CommandOf<'upsert_pets'>): OutcomeOf<'upsert_pets'> {
    const { pets, keyId, at, canChangeStock } = command
    const batch = this.#batchOf(pets)
    const plans: PlannedPet[] = []
    const failures: ErrorDetail[] = []
    for (const [index, upsert] of pets.entries()) {
      const plan = this.#planUpsert(upsert, batch)
      if (plan.type === 'planned' && !canChangeStock && changesStock(plan, upsert)) {
        failures.push({ index, petId: plan.pet.id, ...STOCK_FORBIDDEN })
      } else if (plan.type === 'planned') plans.push(plan)
      else failures.push(toFailure(toError(plan, upsert), index, upsert.id))
    }
    if (failures.length > 0) return { type: 'refused', failures }
    // All old barcodes are released before a new one is set, because two pets may swap their barcodes.
    for (const plan of plans) this.#releaseBarcode(plan)
    const stocked = plans.map((plan, index) => {
      const pet = this.#putPet(plan, command)
      return { ...pet, quantity: pets[index]?.quantity ?? pet.quantity }
    })
    this.#correctQuantities(stocked, { keyId, at, reason: 'corrected' })
    const created = plans.filter(({ before }) => before === undefined).length
    return { type: 'done', pets: stocked, created }
  }

  /** Records one adjustment with the pets whose quantity differs. */
  #correctQuantities(pets: readonly StockedPet[], by: ChangeOrigin): void {
    const differing = pets.filter(({ id, quantity }) => this.#stock.requireEntry(id).quantity !== quantity)
    if (differing.length === 0) return
    const occurredAt = this.#stock.timeOfNow(
      by.at,
      differing.map(({ id }) => id),
    )
    const document = this.#stock.openDocument({ by, occurredAt })
    for (const { id: petId, quantity: counted } of differing) {
      const statement = { type: 'count', counted } as const
      this.#stock.record(document, { petId, after: counted, statement, effect: 'applied' })
    }
  }

  removePet(command: CommandOf<'remove_pet'>): OutcomeOf<'remove_pet'> {
    const { petId, onlyIfEmpty } = command
    const existing = this.#findExisting(petId)
    if (existing === undefined) return { type: 'unknown_pet' }
    const { pet, entry } = existing
    if (onlyIfEmpty && entry.quantity > 0) return { type: 'pet_has_stock' }
    if (!allowsRecord(command, PET, pet)) return { type: 'record_changed' }
    if (entry.reserved > 0) return { type: 'pet_reserved', reserved: entry.reserved }
    if (pet.barcode !== undefined) this.#barcodes.set(pet.barcode, undefined)
    this.#stock.removePet(petId, command)
    this.#pets.set(petId, undefined)
    return { type: 'done' }
  }

  createCategory(command: CommandOf<'create_category'>): OutcomeOf<'create_category'> {
    const { id: chosenId, ...record } = command.category
    const id = chosenId ?? takeId(this.#locked.newCategoryIds, this.#takenCategoryIdCount++, 'categories')
    if (this.#findCategory(id) !== undefined) return { type: 'category_exists', categoryId: id }
    const category = withUpdate(CATEGORY, { id, ...record })
    const conflict = this.#findNameConflict(category)
    if (conflict !== undefined) return conflict
    this.#categories.set(id, category)
    this.#stock.logCategory(category, 'created', command)
    return { type: 'done', category }
  }

  updateCategory(command: CommandOf<'update_category'>): OutcomeOf<'update_category'> {
    const { categoryId, patch } = command
    const before = this.#findCategory(categoryId)
    if (before === undefined) return { type: 'unknown_category' }
    if (!allowsRecord(command, CATEGORY, before)) return { type: 'record_changed' }
    const category = withUpdate(CATEGORY, before, patch)
    if (isSameRecord(CATEGORY, before, category)) return { type: 'done', category }
    // Older stores may have categories with equal names. They can be changed as long as they keep their names.
    const conflict = category.name === before.name ? undefined : this.#findNameConflict(category)
    if (conflict !== undefined) return conflict
    this.#categories.set(categoryId, category)
    if (category.lowStockAt !== before.lowStockAt) this.#thresholdChanges.set(categoryId, randomUUID())
    this.#stock.logCategory(category, 'changed', command)
    return { type: 'done', category }
  }

  applyThresholds({ petIds }: CommandOf<'apply_thresholds'>): OutcomeOf<'apply_thresholds'> {
    for (const petId of petIds) {
      const existing = this.#findExisting(petId)
      if (existing === undefined) continue
      const { pet, entry } = existing
      const lowStockAt = thresholdOf(pet, this.#findCategory(pet.categoryId))
      if (entry.lowStockAt === lowStockAt) continue
      this.#stock.setThreshold(petId, lowStockAt)
    }
    return { type: 'done' }
  }

  removeCategory(command: CommandOf<'remove_category'>): OutcomeOf<'remove_category'> {
    const { categoryId } = command
    const category = this.#findCategory(categoryId)
    if (category === undefined) return { type: 'unknown_category' }
    if (!allowsRecord(command, CATEGORY, category)) return { type: 'record_changed' }
    if (this.#locked.categoriesWithPets.has(categoryId)) return { type: 'category_has_pets' }
    this.#categories.set(categoryId, undefined)
    this.#stock.logCategory(category, 'removed', command)
    return { type: 'done' }
  }

  #batchOf(pets: readonly PetUpsert[]): Batch {
    const chosenIds = new Set<bigint>()
    const releasedBarcodes = new Set<string>()
    for (const { id, barcode } of pets) {
      if (id === undefined) continue
      chosenIds.add(id)
      const oldBarcode = this.#findPet(id)?.barcode
      const keepsBarcode = barcode === undefined || barcode === oldBarcode
      if (oldBarcode !== undefined && !keepsBarcode) releasedBarcodes.add(oldBarcode)
    }
    return { chosenIds, releasedBarcodes }
  }

  #planUpsert({ id: chosenId, ...fields }: PetUpsert, batch: Batch): PetPlan | MissingFields {
    const existing = chosenId === undefined ? undefined : this.#findExisting(chosenId)
    if (existing !== undefined) return this.#planUpdate(existing, fields, batch)
    const { name, categoryId } = fields
    if (name === undefined || categoryId === undefined) return { type: 'missing_fields' }
    const id = chosenId ?? this.#takeNewPetId(batch.chosenIds)
    return this.#planNewPet(id, { ...fields, name, categoryId }, batch)
  }

  #planNewPet(
    id: bigint,
    { quantity = 0, name, categoryId, ...fields }: NewPetFields,
    batch?: Batch,
  ): PetPlan {
    const pet = withUpdate(PET, { id, name, categoryId, status: 'available' }, fields)
    return this.#planPet({ pet, before: undefined, entry: { quantity } }, batch)
  }

  #planUpdate({ pet: before, entry }: PetWithEntry, patch: PetPatch, batch?: Batch): PetPlan {
    return this.#planPet({ pet: withUpdate(PET, before, patch), before, entry }, batch)
  }

  #planPet(change: Omit<PlannedPet, 'type' | 'category'>, batch = NO_BATCH): PetPlan {
    const { pet } = change
    const category = this.#findCategory(pet.categoryId)
    if (category === undefined) return { type: 'invalid_category', categoryId: pet.categoryId }
    return this.#findBarcodeConflict(pet, batch) ?? { type: 'planned', category, ...change }
  }

  #releaseBarcode({ before }: PlannedPet): void {
    if (before?.barcode !== undefined) this.#barcodes.set(before.barcode, undefined)
  }

  #putPet({ pet, before, category, entry }: PlannedPet, by: ChangeOrigin): StockedPet {
    const { quantity } = entry
    if (pet.barcode !== undefined) this.#barcodes.set(pet.barcode, pet.id)
    if (before === undefined || !isSameRecord(PET, before, pet)) {
      const lowStockAt = thresholdOf(pet, category)
      if (before === undefined) this.#stock.addPet(pet, quantity, lowStockAt, by)
      else this.#stock.changePet(pet, lowStockAt, by)
      this.#pets.set(pet.id, pet)
    }
    return { ...pet, quantity }
  }

  #findExisting(petId: bigint): PetWithEntry | undefined {
    const pet = this.#findPet(petId)
    const entry = this.#stock.findEntry(petId)
    return pet === undefined || entry === undefined ? undefined : { pet, entry }
  }

  #findPet(petId: bigint): Pet | undefined {
    return this.#pets.has(petId) ? this.#pets.get(petId) : this.#locked.pets.get(petId)
  }

  #findCategory(categoryId: bigint): Category | undefined {
    return this.#categories.has(categoryId)
      ? this.#categories.get(categoryId)
      : this.#locked.categories.get(categoryId)
  }

  #findNameConflict({ id, name }: Category): CategoryNameTaken | undefined {
    const key = nameKey(name)
    const current = new Map<bigint, Category | undefined>([...this.#locked.categories, ...this.#categories])
    const owner = current
      .values()
      .find((other) => other !== undefined && other.id !== id && nameKey(other.name) === key)
    return owner === undefined ? undefined : { type: 'category_name_taken', owner }
  }

  #findBarcodeConflict({ id: petId, barcode }: Pet, { releasedBarcodes }: Batch): BarcodeTaken | undefined {
    if (barcode === undefined || releasedBarcodes.has(barcode)) return undefined
    const owner = this.#barcodes.has(barcode)
      ? this.#barcodes.get(barcode)
      : this.#locked.barcodes.get(barcode)
    return owner === undefined || owner === petId
      ? undefined
      : { type: 'barcode_taken', barcode, petId: owner }
  }

  /** Skips ids that earlier commands of the commit, or other pets of the same upsert, have chosen. */
  #takeNewPetId(chosenIds = NO_BATCH.chosenIds): bigint {
    for (;;) {
      const id = takeId(this.#locked.newPetIds, this.#takenPetIdCount++, 'pets')
      if (this.#stock.findEntry(id) === undefined && !chosenIds.has(id)) return id
    }
  }
}

function toError(plan: Exclude<PetPlan | MissingFields, PlannedPet>, upsert: PetUpsert): ServiceError {
  switch (plan.type) {
    case 'invalid_category':
      return invalidCategory(plan.categoryId)
    case 'barcode_taken':
      return barcodeTaken(plan.barcode, plan.petId)
    case 'missing_fields':
      return missingFields(upsert)
  }
}

function missingFields({ id, name, categoryId }: PetUpsert): ServiceError {
  const reason = id === undefined ? 'a pet without an id is new' : `there is no pet ${id}`
  const explanation = `${reason}, and a new pet needs a name and a categoryId`
  if (name !== undefined) return invalidField('categoryId', `categoryId is missing: ${explanation}`)
  if (categoryId !== undefined) return invalidField('name', `name is missing: ${explanation}`)
  return new ServiceError('invalid_request', `name and categoryId are missing: ${explanation}`)
}

const STOCK_FORBIDDEN = {
  code: 'forbidden',
  message: 'this key may not change the stock: it needs the permission "stock"',
  field: 'quantity',
} as const

function changesStock({ before, entry }: PlannedPet, { quantity }: PetUpsert): boolean {
  return quantity !== undefined && quantity !== (before === undefined ? 0 : entry.quantity)
}
