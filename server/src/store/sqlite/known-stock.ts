import { PET_STATUSES, type PetStatus } from '../../core/inventory.ts'

const FEWEST_PLACES = 1_024
const FULLEST = 0.7
const GROWTH = 1.5
const WORDS = 2 ** 32
/** 2^32 divided by the golden ratio: ids in a row end up far apart. */
const SPREAD = 0x9e3779b1

/**
 * What the stock of pets is, by their ids: a hash table in flat arrays, 25 bytes a place. A Map of a million objects
 * would take five times the memory, and each collection of garbage would walk through it.
 */
export class KnownStock {
  #places = FEWEST_PLACES
  #pets = 0
  #ids = new BigInt64Array(FEWEST_PLACES)
  #quantities = new Float64Array(FEWEST_PLACES)
  /** Ids of the history; 0 for a pet whose stock has never changed. */
  #lastChanges = new Float64Array(FEWEST_PLACES)
  /** One more than the place in PET_STATUSES; 0 where nobody is. */
  #statuses = new Uint8Array(FEWEST_PLACES)

  /** Where the pet stands until others are added; undefined where it is not known. */
  placeOf(petId: bigint): number | undefined {
    const place = this.#find(petId)
    return this.#statuses[place] === 0 ? undefined : place
  }

  quantityAt(place: number): number {
    return this.#quantities[place] ?? 0
  }

  statusAt(place: number): PetStatus {
    return PET_STATUSES[(this.#statuses[place] ?? 0) - 1] as PetStatus
  }

  lastChangeAt(place: number): number | null {
    return this.#lastChanges[place] || null
  }

  change(place: number, quantity: number, lastChange: number): void {
    this.#quantities[place] = quantity
    this.#lastChanges[place] = lastChange
  }

  /** Adds a pet that is not known yet, and tells where it stands. */
  add(petId: bigint, quantity: number, status: PetStatus, lastChange: number | null): number {
    this.makeRoomFor(this.#pets + 1)
    const place = this.#find(petId)
    this.#ids[place] = petId
    this.#quantities[place] = quantity
    this.#lastChanges[place] = lastChange ?? 0
    this.#statuses[place] = PET_STATUSES.indexOf(status) + 1
    this.#pets++
    return place
  }

  /** To be told beforehand saves moving them several times. */
  makeRoomFor(pets: number): void {
    const needed = Math.ceil(pets / FULLEST)
    if (needed > this.#places) this.#moveTo(Math.max(needed, Math.ceil(this.#places * GROWTH)))
  }

  clear(): void {
    if (this.#pets > 0) this.#begin(FEWEST_PLACES)
  }

  /** The pet's place, or the free one where it would stand. */
  #find(petId: bigint): number {
    const id = Number(petId)
    const mixed = Math.imul(id ^ (id / WORDS), SPREAD) >>> 0
    let place = Math.floor((mixed / WORDS) * this.#places)
    while (this.#statuses[place] !== 0 && this.#ids[place] !== petId) {
      place = place + 1 === this.#places ? 0 : place + 1
    }
    return place
  }

  #begin(places: number): void {
    this.#places = places
    this.#pets = 0
    this.#ids = new BigInt64Array(places)
    this.#quantities = new Float64Array(places)
    this.#lastChanges = new Float64Array(places)
    this.#statuses = new Uint8Array(places)
  }

  #moveTo(places: number): void {
    const [ids, quantities, lastChanges, statuses] = [
      this.#ids,
      this.#quantities,
      this.#lastChanges,
      this.#statuses,
    ]
    this.#begin(places)
    for (const [from, status] of statuses.entries()) {
      if (status === 0) continue
      const place = this.#find(ids[from] ?? 0n)
      this.#ids[place] = ids[from] ?? 0n
      this.#quantities[place] = quantities[from] ?? 0
      this.#lastChanges[place] = lastChanges[from] ?? 0
      this.#statuses[place] = status
      this.#pets++
    }
  }
}
