import type { Category } from '../../../src/core/catalog/category.ts'
import { PET, type PetPatch } from '../../../src/core/catalog/pet.ts'
import { withUpdate } from '../../../src/core/values/field.ts'
import type { ChangedBy } from './outcome.ts'
import type { ModelPet, ModelWorld } from './world.ts'

export type ModelCategory = Omit<Category, 'id'>

/** Why a change of the catalogue is impossible. */
export type CatalogRefusal = 'unknown_category' | 'not_found' | 'already_exists' | 'in_use'

/** The catalogue of the model, and which pets are low. */
export class ModelCatalog {
  readonly categories = new Map<bigint, ModelCategory>()
  /** The low pets, and since when. */
  readonly low = new Map<bigint, number>()
  readonly #world: ModelWorld
  /** Every id that a pet or category ever had: none is assigned again. */
  readonly #petIds = new Set<bigint>()
  readonly #categoryIds = new Set<bigint>()

  constructor(world: ModelWorld) {
    this.#world = world
    for (const [petId, { categoryId }] of world.pets) {
      this.#petIds.add(petId)
      this.#categoryIds.add(categoryId)
      this.categories.set(categoryId, { name: `Category ${categoryId}` })
    }
  }

  /** Creates a missing category, as an import does. */
  requireCategory(id: bigint, by: ChangedBy): void {
    if (!this.categories.has(id)) this.putCategory(id, { name: `Category ${id}` }, by)
  }

  hadPet(id: bigint): boolean {
    return this.#petIds.has(id)
  }

  hadCategory(id: bigint): boolean {
    return this.#categoryIds.has(id)
  }

  thresholdOf({ lowStockAt, categoryId }: ModelPet): number | undefined {
    return lowStockAt ?? this.categories.get(categoryId)?.lowStockAt
  }

  /** Why such a pet cannot exist; under this id, if given. */
  obstacle(
    id: bigint | undefined,
    pet: Pick<ModelPet, 'categoryId' | 'barcode'>,
  ): CatalogRefusal | undefined {
    if (!this.categories.has(pet.categoryId)) return 'unknown_category'
    if (id !== undefined && this.#world.pets.has(id)) return 'already_exists'
    return this.#isTaken(pet.barcode, id) ? 'already_exists' : undefined
  }

  /** Adds a pet, or changes anything but its quantity. */
  put(id: bigint, pet: ModelPet, by: ChangedBy): void {
    const change = this.#world.pets.has(id) ? 'changed' : 'created'
    if (change === 'created') this.#world.record(id, 0, pet.quantity, by)
    this.#petIds.add(id)
    this.#world.pets.set(id, pet)
    this.#world.events.tell(id, 'pet', { petId: id, change, ...numbersOf(pet) }, by)
  }

  change(id: bigint, patch: PetPatch, by: ChangedBy): ModelPet | CatalogRefusal {
    const before = this.#world.pets.get(id)
    const categoryId = patch.categoryId ?? before?.categoryId
    if (categoryId !== undefined && !this.categories.has(categoryId)) return 'unknown_category'
    if (before === undefined) return 'not_found'
    const { id: _, ...record } = withUpdate(PET, { id, ...before }, patch)
    const pet = { ...record, quantity: before.quantity }
    if (this.#isTaken(pet.barcode, id)) return 'already_exists'
    if (!Bun.deepEquals(pet, before)) this.put(id, pet, by)
    return pet
  }

  remove(id: bigint, by: ChangedBy): CatalogRefusal | undefined {
    if (!this.#world.pets.has(id)) return 'not_found'
    if (this.#world.orders.reservedOf(id) > 0) return 'in_use'
    this.#world.record(id, this.#world.pets.get(id)?.quantity ?? 0, 0, by)
    this.#world.pets.delete(id)
    this.low.delete(id)
    this.#world.events.tell(id, 'removed', { petId: id }, by)
    return undefined
  }

  hasCategoryName(name: string, exceptId?: bigint): boolean {
    return this.categories
      .entries()
      .some(([id, category]) => id !== exceptId && category.name.toLowerCase() === name.toLowerCase())
  }

  putCategory(id: bigint, category: ModelCategory, by: ChangedBy): void {
    const before = this.categories.get(id)
    this.#categoryIds.add(id)
    this.categories.set(id, category)
    if (!Bun.deepEquals(before, category)) {
      this.#tellCategory(id, category, before === undefined ? 'created' : 'changed', by)
    }
  }

  removeCategory(id: bigint, by: ChangedBy): CatalogRefusal | undefined {
    const category = this.categories.get(id)
    if (category === undefined) return 'not_found'
    if (this.#world.pets.values().some(({ categoryId }) => categoryId === id)) return 'in_use'
    this.categories.delete(id)
    this.#tellCategory(id, category, 'removed', by)
    return undefined
  }

  /** A request crosses a threshold by its combined effect. */
  tellCrossings(by: ChangedBy): void {
    for (const [petId, pet] of this.#world.pets) {
      const lowStockAt = this.thresholdOf(pet)
      if (lowStockAt === undefined && !this.low.has(petId)) continue
      const reserved = this.#world.orders.reservedOf(petId)
      const available = pet.quantity - reserved
      const isLow = lowStockAt !== undefined && available <= lowStockAt
      if (isLow === this.low.has(petId)) continue
      if (isLow) this.low.set(petId, by.at)
      else this.low.delete(petId)
      const told = numbersOf({ quantity: pet.quantity, reserved, available, lowStockAt })
      this.#world.events.tell(petId, isLow ? 'low' : 'recovered', { petId, ...told }, by)
    }
  }

  #tellCategory(id: bigint, category: ModelCategory, change: string, by: ChangedBy): void {
    const data = { change, categoryId: id, ...numbersOf(category) }
    this.#world.events.tell('categories', 'category', data, by)
  }

  #isTaken(barcode: string | undefined, by: bigint | undefined): boolean {
    if (barcode === undefined) return false
    return [...this.#world.pets].some(([id, pet]) => pet.barcode === barcode && id !== by)
  }
}

/** As in the response: without unset fields, and numbers as digits. */
export function numbersOf(fields: object): Record<string, unknown> {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    set.map(([name, value]) => [name, typeof value === 'number' ? BigInt(value) : value]),
  )
}

/** A pet in a response. */
export function petBody(id: bigint, { name, categoryId, status, barcode, lowStockAt }: ModelPet) {
  return numbersOf({ id, name, categoryId, status, barcode, lowStockAt })
}

export function categoryBody(id: bigint, { name, lowStockAt }: ModelCategory) {
  return numbersOf({ id, name, lowStockAt })
}
