import type { PetStatus } from '../stock/inventory.ts'
import { ServiceError } from '../values/errors.ts'
import { lowerBound } from '../values/lower-bound.ts'
import type { InventorySearch, SearchPosition, SearchWindow } from './search.ts'

/** The fields that searches filter and sort by. */
export interface IndexedPet {
  readonly id: bigint
  /** A blank and the words of the name, as `nameWords` returns them, so that each word has a blank before it. */
  readonly text: string
  readonly categoryId: bigint
  readonly status: PetStatus
  readonly quantity: number
  readonly available: number
  readonly isLow: boolean
}

interface IndexQuery extends SearchWindow {
  readonly search: InventorySearch
  /** The pet that has the barcode of the search. */
  readonly barcodeOwner: bigint | undefined
  /** By `performance.now()`. */
  readonly deadline: number
}

/** About 1 ms of work. */
const PETS_PER_DEADLINE_CHECK = 16_384
/** `BestPets` drops the worse candidates when it has more than twice the page size plus this number. */
const SELECTION_SLACK = 64

type SortValue = string | number

const SORT_VALUES = {
  name: (pet: IndexedPet) => pet.text,
  quantity: (pet: IndexedPet) => pet.quantity,
  available: (pet: IndexedPet) => pet.available,
}

/**
 * All pets in memory, in the order of their ids. A search that sorts by id stops when its page is full. Other searches examine
 * all pets and keep the best.
 */
export class PetIndex {
  readonly #pets: IndexedPet[] = []

  /** Adds a pet, whose id must be higher than all ids in the index. */
  append(pet: IndexedPet): void {
    this.#pets.push(pet)
  }

  set(pet: IndexedPet): void {
    const position = this.#position(pet.id)
    const isKnown = this.#at(position, pet.id) !== undefined
    this.#pets.splice(position, isKnown ? 1 : 0, pet)
  }

  remove(id: bigint): void {
    const position = this.#position(id)
    if (this.#at(position, id) !== undefined) this.#pets.splice(position, 1)
  }

  /** The first `limit` pets that the search finds, each with its id and the value that it is sorted by. */
  find(query: IndexQuery): SearchPosition[] {
    const { by } = query.search.order
    const matches = this.#matcher(query)
    if (by === 'petId') return this.#firstMatches(query, matches).map(({ id }) => ({ id }))
    return this.#bestMatches(query, matches, by).map((pet) => {
      const value = by === 'name' ? pet.text.slice(1) : pet[by]
      return { id: pet.id, value }
    })
  }

  /** The first matching pets in the order of the ids. */
  #firstMatches(
    { search: { order }, after, limit, deadline }: IndexQuery,
    matches: (pet: IndexedPet) => boolean,
  ): IndexedPet[] {
    const found: IndexedPet[] = []
    for (let ordinal = this.#ordinalAfter(after, order.isDescending); found.length < limit; ordinal++) {
      if (ordinal % PETS_PER_DEADLINE_CHECK === 0) checkDeadline(deadline)
      const pet = this.#pets[order.isDescending ? this.#pets.length - 1 - ordinal : ordinal]
      if (pet === undefined) break
      if (matches(pet)) found.push(pet)
    }
    return found
  }

  /** The matching pets with the best values. Pets with equal values stay in the order of their ids. */
  #bestMatches(
    { search: { order }, after, limit, deadline }: IndexQuery,
    matches: (pet: IndexedPet) => boolean,
    by: keyof typeof SORT_VALUES,
  ): IndexedPet[] {
    const { isDescending } = order
    const sortValue: (pet: IndexedPet) => SortValue = SORT_VALUES[by]
    const valueBefore = by === 'name' && after !== undefined ? ` ${after.value}` : after?.value
    const pets = this.#pets
    const count = pets.length
    const isBetter = isDescending
      ? (value: SortValue, other: SortValue) => value > other
      : (value: SortValue, other: SortValue) => value < other
    const firstOrdinal = this.#ordinalAfter(after, isDescending)
    const best = new BestPets(limit, sortValue, isBetter)
    for (let ordinal = 0; ordinal < count; ordinal++) {
      if (ordinal % PETS_PER_DEADLINE_CHECK === 0) checkDeadline(deadline)
      const pet = pets[isDescending ? count - 1 - ordinal : ordinal]
      if (pet === undefined) break
      const value = sortValue(pet)
      if (best.worst !== undefined && !isBetter(value, best.worst)) continue
      if (valueBefore !== undefined) {
        if (isBetter(value, valueBefore) || (value === valueBefore && ordinal < firstOrdinal)) continue
      }
      if (matches(pet)) best.add(pet)
    }
    return best.toSorted()
  }

  #matcher({ search, barcodeOwner }: IndexQuery): (pet: IndexedPet) => boolean {
    const { order: _, status, isLow, categoryId, below = Number.POSITIVE_INFINITY, text, ...others } = search
    // A condition that is missing below does not compile.
    others satisfies Readonly<Record<string, never>>
    const hasText = text !== undefined
    const hasWords = wordMatcher(text?.words ?? [])
    const petWithId = this.#get(text?.id)
    const petWithBarcode = this.#get(barcodeOwner)
    return (pet) =>
      (status === undefined || pet.status === status) &&
      (categoryId === undefined || pet.categoryId === categoryId) &&
      (isLow === undefined || pet.isLow) &&
      pet.available < below &&
      (!hasText || pet === petWithId || pet === petWithBarcode || hasWords(pet.text))
  }

  /** The ordinal of the first pet after a place. Ordinal 0 has the lowest id, or the highest if the order is descending. */
  #ordinalAfter(after: SearchPosition | undefined, isDescending: boolean): number {
    if (after === undefined) return 0
    const position = this.#position(after.id)
    if (isDescending) return this.#pets.length - position
    return this.#at(position, after.id) === undefined ? position : position + 1
  }

  #get(id: bigint | undefined): IndexedPet | undefined {
    return id === undefined ? undefined : this.#at(this.#position(id), id)
  }

  #at(position: number, id: bigint): IndexedPet | undefined {
    const pet = this.#pets[position]
    return pet?.id === id ? pet : undefined
  }

  /** The position of the id, or the position at which to insert it. */
  #position(id: bigint): number {
    return lowerBound(this.#pets.length, (position) => (this.#pets[position]?.id ?? id) < id)
  }
}

/** Matches the text of a pet that has, for each prefix, a word that begins with it. */
function wordMatcher(prefixes: readonly string[]): (text: string) => boolean {
  if (prefixes.length === 0) return () => false
  const parts = prefixes.map((prefix) => ` ${prefix}`)
  return (text) => {
    for (const part of parts) {
      if (!text.includes(part)) return false
    }
    return true
  }
}

function checkDeadline(deadline: number): void {
  if (performance.now() < deadline) return
  throw new ServiceError(
    'invalid_request',
    'the search takes too long; narrow it with more or longer words in q, or with other parameters',
  )
}

/** Keeps the pets with the best values. Of pets with equal values, it keeps those that were added first. */
class BestPets {
  readonly #limit: number
  readonly #sortValue: (pet: IndexedPet) => SortValue
  readonly #isBetter: (value: SortValue, other: SortValue) => boolean
  #pets: IndexedPet[] = []
  /** Once the page is full, only pets with better values can enter it. */
  worst: SortValue | undefined

  constructor(
    limit: number,
    sortValue: (pet: IndexedPet) => SortValue,
    isBetter: (value: SortValue, other: SortValue) => boolean,
  ) {
    this.#limit = limit
    this.#sortValue = sortValue
    this.#isBetter = isBetter
  }

  add(pet: IndexedPet): void {
    this.#pets.push(pet)
    if (this.#pets.length > 2 * this.#limit + SELECTION_SLACK) this.#dropWorse()
  }

  toSorted(): IndexedPet[] {
    this.#dropWorse()
    return this.#pets
  }

  /** Sorting is stable, so equal values stay in the order in which they were added. */
  #dropWorse(): void {
    const order = (pet: IndexedPet, other: IndexedPet) => {
      const value = this.#sortValue(pet)
      const otherValue = this.#sortValue(other)
      if (this.#isBetter(value, otherValue)) return -1
      return this.#isBetter(otherValue, value) ? 1 : 0
    }
    this.#pets = this.#pets.sort(order).slice(0, this.#limit)
    const last = this.#pets[this.#limit - 1]
    if (last !== undefined) this.worst = this.#sortValue(last)
  }
}
