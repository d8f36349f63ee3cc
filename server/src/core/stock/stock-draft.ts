import type { Category } from '../catalog/category.ts'
import type { Pet } from '../catalog/pet.ts'
import type { Order, OrderChange } from '../orders/order.ts'
import { type InventoryItem, isLow, type LockedEntry, MAX_QUANTITY } from './inventory.ts'
import type { ChangeOrigin } from './stock-request.ts'

/** What is written to the log, in the order in which it was decided. */
export type LogRecord = PetRecord | OrderChangeRecord | ThresholdRecord | CategoryChangeRecord

/** One of the rows of a pet's own history, of which each leads to the one before. */
interface Chained {
  readonly petId: bigint
  readonly status: LockedEntry['status']
  readonly by: ChangeOrigin
  /** Its index among all that is made. */
  readonly index: number
  /** The index of the pet's row before this one; null where it is the first. */
  readonly follows: number | null
  /** Whether it is the pet's last one. */
  isLast: boolean
}

/** A change of a quantity that is made: it is written to the stock as well. */
export interface QuantityRecord extends Chained {
  readonly kind: 'change'
  readonly before: number
  readonly after: number
}

/** A pet came, or is another one than before in anything but its quantity. */
export interface PetChangeRecord extends Chained {
  readonly kind: 'pet'
  readonly isNew: boolean
  /** As it is from then on, and so many of it. */
  readonly pet: Pet
  readonly after: number
}

export interface PetRemovalRecord extends Chained {
  readonly kind: 'removed'
  readonly before: number
}

/** What happened to an order, which is as it is right after that. */
export interface OrderChangeRecord {
  readonly kind: 'order'
  readonly order: Order
  readonly change: OrderChange
  readonly by: ChangeOrigin
}

/** A pet is low from then on, or no longer. */
export interface ThresholdRecord {
  readonly kind: 'low' | 'recovered'
  readonly petId: bigint
  readonly entry: LockedEntry
  readonly by: ChangeOrigin
}

/** What happened to a category, which is as it is right after that, or was until then. */
export interface CategoryChangeRecord {
  readonly kind: 'category'
  readonly category: Category
  readonly change: 'created' | 'changed' | 'removed'
  readonly by: ChangeOrigin
}

/** A row of a pet's own history. */
export type PetRecord = QuantityRecord | PetChangeRecord | PetRemovalRecord

export function isQuantityRecord(record: LogRecord): record is QuantityRecord {
  return record.kind === 'change'
}

export function isPetRecord(record: LogRecord): record is PetRecord {
  return record.kind === 'change' || record.kind === 'pet' || record.kind === 'removed'
}

/** The entries as the requests so far have left them. */
export class StockDraft {
  readonly records: LogRecord[] = []
  readonly #found: ReadonlyMap<bigint, LockedEntry>
  readonly #now = new Map<bigint, LockedEntry | undefined>()
  readonly #latest = new Map<bigint, PetRecord>()
  /** Whether they were low before the request that is under way. */
  readonly #wasLow = new Map<bigint, boolean>()
  readonly #reserved = new Map<bigint, number>()
  readonly #low = new Map<bigint, boolean>()

  constructor(found: ReadonlyMap<bigint, LockedEntry>) {
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

  entry(petId: bigint): LockedEntry | undefined {
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
  putPet(pet: Pet, entry: LockedEntry, by: ChangeOrigin): void {
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

  logOrder(order: Order, change: OrderChange, by: ChangeOrigin): void {
    this.records.push({ kind: 'order', order, change, by })
  }

  logCategory(category: Category, change: CategoryChangeRecord['change'], by: ChangeOrigin): void {
    this.records.push({ kind: 'category', category, change, by })
  }

  /** Ends a request: what it has done as a whole to a pet is what may have crossed its threshold. */
  logThresholdCrossings(by: ChangeOrigin): void {
    for (const [petId, wasLow] of this.#wasLow) {
      const entry = this.#require(petId)
      const isLowNow = isLow(entry)
      if (isLowNow === wasLow) continue
      this.#low.set(petId, isLowNow)
      this.records.push({ kind: isLowNow ? 'low' : 'recovered', petId, entry, by })
    }
    this.#wasLow.clear()
  }

  #put(petId: bigint, entry: LockedEntry): void {
    const before = this.entry(petId)
    const wasLow = before !== undefined && isLow(before)
    if ((wasLow || entry.lowStockAt !== null) && !this.#wasLow.has(petId)) this.#wasLow.set(petId, wasLow)
    this.#now.set(petId, entry)
  }

  #require(petId: bigint): LockedEntry {
    const entry = this.entry(petId)
    if (entry === undefined) throw new Error(`petId ${petId} has no entry`)
    return entry
  }

  #chained(petId: bigint) {
    return { index: this.records.length, follows: this.#latest.get(petId)?.index ?? null, isLast: true }
  }

  #record(record: PetRecord): void {
    const earlier = this.#latest.get(record.petId)
    if (earlier !== undefined) earlier.isLast = false
    this.#latest.set(record.petId, record)
    this.records.push(record)
  }
}

/** Callers are told long before: what comes so far without being one is a bug. */
function isQuantity(quantity: number): boolean {
  return Number.isInteger(quantity) && quantity >= 0 && quantity <= MAX_QUANTITY
}
