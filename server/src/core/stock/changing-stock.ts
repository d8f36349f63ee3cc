import type { Category } from '../catalog/category.ts'
import type { Pet } from '../catalog/pet.ts'
import type { Order, OrderChange } from '../orders/order.ts'
import { MAX_QUANTITY } from '../values/field.ts'
import { type FoundEntry, type InventoryItem, isLow } from './inventory.ts'
import type { ChangeOrigin } from './stock-request.ts'

/** What is written to the log, in the order in which it was decided. */
export type Made = MadeOfPet | MadeOrder | MadeCrossing | MadeCategory

/** One of the rows of a pet's own history, of which each leads to the one before. */
interface Chained {
  readonly petId: bigint
  readonly status: FoundEntry['status']
  readonly by: ChangeOrigin
  /** Its index among all that is made. */
  readonly index: number
  /** The index of the pet's row before this one; null where it is the first. */
  readonly follows: number | null
  /** Whether it is the pet's last one. */
  isLast: boolean
}

/** A change of a quantity that is made: it is written to the stock as well. */
export interface MadeChange extends Chained {
  readonly kind: 'change'
  readonly before: number
  readonly after: number
}

/** A pet came, or is another one than before in anything but its quantity. */
export interface MadePet extends Chained {
  readonly kind: 'pet'
  readonly isNew: boolean
  /** As it is from then on, and so many of it. */
  readonly pet: Pet
  readonly after: number
}

export interface MadeRemoval extends Chained {
  readonly kind: 'removed'
  readonly before: number
}

/** What happened to an order, which is as it is right after that. */
export interface MadeOrder {
  readonly kind: 'order'
  readonly order: Order
  readonly change: OrderChange
  readonly by: ChangeOrigin
}

/** A pet is low from then on, or no longer. */
export interface MadeCrossing {
  readonly kind: 'low' | 'recovered'
  readonly petId: bigint
  readonly entry: FoundEntry
  readonly by: ChangeOrigin
}

/** What happened to a category, which is as it is right after that, or was until then. */
export interface MadeCategory {
  readonly kind: 'category'
  readonly category: Category
  readonly change: 'created' | 'changed' | 'removed'
  readonly by: ChangeOrigin
}

/** A row of a pet's own history. */
export type MadeOfPet = MadeChange | MadePet | MadeRemoval

export function isQuantityChange(made: Made): made is MadeChange {
  return made.kind === 'change'
}

export function isOfPet(made: Made): made is MadeOfPet {
  return made.kind === 'change' || made.kind === 'pet' || made.kind === 'removed'
}

/** The entries as the requests so far have left them. */
export class ChangingStock {
  readonly made: Made[] = []
  readonly #found: ReadonlyMap<bigint, FoundEntry>
  readonly #now = new Map<bigint, FoundEntry | undefined>()
  readonly #latest = new Map<bigint, MadeOfPet>()
  /** Whether they were low before the request that is under way. */
  readonly #wasLow = new Map<bigint, boolean>()
  readonly #reserved = new Map<bigint, number>()
  readonly #low = new Map<bigint, boolean>()

  constructor(found: ReadonlyMap<bigint, FoundEntry>) {
    this.#found = found
  }

  /** Of each pet of which another number is reserved than before. */
  get reserved(): ReadonlyMap<bigint, number> {
    return this.#reserved
  }

  /** Whether it is low, of each pet that has crossed its threshold; not so of one that is gone. */
  get low(): ReadonlyMap<bigint, boolean> {
    return this.#low
  }

  entry(petId: bigint): FoundEntry | undefined {
    return this.#now.has(petId) ? this.#now.get(petId) : this.#found.get(petId)
  }

  find(petId: bigint): InventoryItem | undefined {
    const entry = this.entry(petId)
    return entry === undefined ? undefined : { petId, quantity: entry.quantity, status: entry.status }
  }

  set({ petId, quantity, status }: InventoryItem, after: number, by: ChangeOrigin): InventoryItem {
    if (!isQuantity(after)) throw new RangeError(`${after} is no quantity`)
    if (after !== quantity) {
      if (this.#latest.get(petId)?.by === by)
        throw new RangeError(`petId ${petId} is there twice in one request`)
      this.#put(petId, { ...this.#require(petId), quantity: after })
      this.#record({ kind: 'change', petId, before: quantity, after, status, by, ...this.#chained(petId) })
    }
    return { petId, quantity: after, status }
  }

  reserve(petId: bigint, more: number): void {
    const entry = this.#require(petId)
    const reserved = entry.reserved + more
    if (!Number.isSafeInteger(reserved) || reserved < 0) {
      throw new RangeError(`${reserved} of petId ${petId} would be reserved`)
    }
    this.#put(petId, { ...entry, reserved })
    this.#reserved.set(petId, reserved)
  }

  /** Adds a pet with its entry, or changes one in anything but its quantity and what is reserved of it. */
  putPet(pet: Pet, entry: FoundEntry, by: ChangeOrigin): void {
    const isNew = this.entry(pet.id) === undefined
    this.#put(pet.id, entry)
    const [petId, { status, quantity: after }] = [pet.id, entry]
    this.#record({ kind: 'pet', isNew, pet, after, petId, status, by, ...this.#chained(petId) })
  }

  removePet(petId: bigint, by: ChangeOrigin): void {
    const { quantity: before, status } = this.#require(petId)
    this.#now.set(petId, undefined)
    this.#wasLow.delete(petId)
    // One that comes back under this id in the same commit finds the row of the one that was there.
    this.#low.set(petId, false)
    this.#record({ kind: 'removed', before, petId, status, by, ...this.#chained(petId) })
  }

  tellOrder(order: Order, change: OrderChange, by: ChangeOrigin): void {
    this.made.push({ kind: 'order', order, change, by })
  }

  tellCategory(category: Category, change: MadeCategory['change'], by: ChangeOrigin): void {
    this.made.push({ kind: 'category', category, change, by })
  }

  /** Ends a request: what it has done as a whole to a pet is what may have crossed its threshold. */
  tellCrossings(by: ChangeOrigin): void {
    for (const [petId, wasLow] of this.#wasLow) {
      const entry = this.#require(petId)
      const isLowNow = isLow(entry)
      if (isLowNow === wasLow) continue
      this.#low.set(petId, isLowNow)
      this.made.push({ kind: isLowNow ? 'low' : 'recovered', petId, entry, by })
    }
    this.#wasLow.clear()
  }

  #put(petId: bigint, entry: FoundEntry): void {
    const before = this.entry(petId)
    const wasLow = before !== undefined && isLow(before)
    if ((wasLow || entry.lowStockAt !== null) && !this.#wasLow.has(petId)) this.#wasLow.set(petId, wasLow)
    this.#now.set(petId, entry)
  }

  #require(petId: bigint): FoundEntry {
    const entry = this.entry(petId)
    if (entry === undefined) throw new Error(`petId ${petId} has no entry`)
    return entry
  }

  #chained(petId: bigint) {
    return { index: this.made.length, follows: this.#latest.get(petId)?.index ?? null, isLast: true }
  }

  #record(made: MadeOfPet): void {
    const earlier = this.#latest.get(made.petId)
    if (earlier !== undefined) earlier.isLast = false
    this.#latest.set(made.petId, made)
    this.made.push(made)
  }
}

/** Callers are told long before: what comes so far without being one is a bug. */
function isQuantity(quantity: number): boolean {
  return Number.isInteger(quantity) && quantity >= 0 && quantity <= MAX_QUANTITY
}
