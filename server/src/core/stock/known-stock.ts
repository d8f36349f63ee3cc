import { PET_STATUSES, type PetStatus } from './inventory.ts'

const FEWEST_PLACES = 1_024
const FULLEST = 0.7
const GROWTH = 1.5
const WORDS = 2 ** 32
/** 2^32 divided by the golden ratio: ids in a row end up far apart. */
const SPREAD = 0x9e3779b1

/** A place is three numbers: the pet's id, its quantity, and its last change and status in one; that is 0 where nobody is. */
const SIZE = 3
const QUANTITY = 1
const STATE = 2
/** A state is the id of the last change, or 0, times this, and one more than the index of the status. */
const CHANGE = 4
/** Of a pet that was removed: nobody else may stand there, since others were placed past it. */
const REMOVED = CHANGE
const STATES = Object.fromEntries(PET_STATUSES.map((status, index) => [status, index + 1])) as Record<
  PetStatus,
  number
>

/**
 * What the stock of pets is, by their ids: a hash table in one flat array, 24 bytes a place. A Map of a million objects
 * would take five times the memory, and each collection of garbage would walk through it.
 */
export class KnownStock {
  #places = 0
  #pets = 0
  #table = new Float64Array(0)
  /** Where the pets stand whose ids no number can hold; in the table they have none. */
  readonly #large = new Map<bigint, number>()

  constructor() {
    this.clear()
  }

  get pets(): number {
    return this.#pets
  }

  /** Where the pet stands until others are added; undefined where it is not known. */
  placeOf(petId: bigint): number | undefined {
    const id = Number(petId)
    if (!Number.isSafeInteger(id)) return this.#large.get(petId)
    const place = this.#find(id)
    return this.#isThere(place) ? place : undefined
  }

  quantityAt(place: number): number {
    return this.#table[place + QUANTITY] as number
  }

  statusAt(place: number): PetStatus {
    return PET_STATUSES[((this.#table[place + STATE] as number) % CHANGE) - 1] as PetStatus
  }

  lastChangeAt(place: number): number | null {
    return Math.floor((this.#table[place + STATE] as number) / CHANGE) || null
  }

  change(place: number, quantity: number, lastChange: number): void {
    this.#table[place + QUANTITY] = quantity
    this.#table[place + STATE] = lastChange * CHANGE + ((this.#table[place + STATE] as number) % CHANGE)
  }

  /** Tells where the pet stands. It is added unless it is known: then it stays as it is. */
  add(petId: bigint, quantity: number, status: PetStatus, lastChange: number | null): number {
    if (this.#pets >= FULLEST * this.#places) this.makeRoomFor(this.#pets + 1)
    const id = Number(petId)
    const isLarge = !Number.isSafeInteger(id)
    const place = (isLarge ? this.#large.get(petId) : undefined) ?? this.#find(id)
    if (this.#isThere(place)) return place
    if (this.#table[place + STATE] === 0) this.#pets++
    if (isLarge) this.#large.set(petId, place)
    this.#table[place] = isLarge ? Number.NaN : id
    this.#table[place + QUANTITY] = quantity
    this.#table[place + STATE] = (lastChange ?? 0) * CHANGE + STATES[status]
    return place
  }

  /** Adds the pet, or makes it what is given. */
  set(petId: bigint, quantity: number, status: PetStatus): void {
    const place = this.add(petId, quantity, status, null)
    this.#table[place + QUANTITY] = quantity
    this.#table[place + STATE] = STATES[status]
  }

  remove(petId: bigint): void {
    const place = this.placeOf(petId)
    if (place !== undefined) this.#table[place + STATE] = REMOVED
    this.#large.delete(petId)
  }

  /** To be told beforehand saves moving them several times. */
  makeRoomFor(pets: number): void {
    if (pets <= FULLEST * this.#places) return
    const before = this.#table
    this.#places = Math.ceil(Math.max(pets / FULLEST, this.#places * GROWTH))
    this.#table = new Float64Array(SIZE * this.#places)
    const move = (from: number, id: number): number => {
      const place = this.#find(id)
      this.#table.set(before.subarray(from, from + SIZE), place)
      return place
    }
    for (let from = 0; from < before.length; from += SIZE) {
      const id = before[from] as number
      if (before[from + STATE] !== 0 && !Number.isNaN(id)) move(from, id)
    }
    for (const [petId, from] of this.#large) this.#large.set(petId, move(from, Number(petId)))
  }

  clear(): void {
    this.#places = FEWEST_PLACES
    this.#pets = 0
    this.#table = new Float64Array(SIZE * FEWEST_PLACES)
    this.#large.clear()
  }

  #isThere(place: number): boolean {
    return (this.#table[place + STATE] as number) % CHANGE !== 0
  }

  /** The place of this id, or the free one where it would stand. */
  #find(id: number): number {
    const table = this.#table
    const mixed = Math.imul(id ^ (id / WORDS), SPREAD) >>> 0
    let place = SIZE * Math.floor((mixed / WORDS) * this.#places)
    while (table[place + STATE] !== 0 && table[place] !== id) {
      place += SIZE
      if (place === table.length) place = 0
    }
    return place
  }
}
