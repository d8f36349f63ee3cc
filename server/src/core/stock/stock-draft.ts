import type { Category } from '../catalog/category.ts'
import type { Pet } from '../catalog/pet.ts'
import type { Order, OrderChange } from '../orders/order.ts'
import { MAX_QUANTITY } from '../values/field.ts'
import type { ChangeOrigin } from './command.ts'
import { type InventoryItem, isLow, type LockedEntry } from './inventory.ts'

/** A row that a commit writes to the log. */
export type LogRecord = PetRecord | OrderChangeRecord | ThresholdRecord | CategoryChangeRecord

/** A record of a pet's own history, in which each record links to the previous record. */
export type PetRecord = QuantityRecord | PetChangeRecord | PetRemovalRecord

interface LinkedRecord {
  readonly petId: bigint
  readonly status: LockedEntry['status']
  /** Never shared by two commands: the same object means the same command. */
  readonly by: ChangeOrigin
  /** Its index among the records of the commit. */
  readonly index: number
  /** The index of the pet's previous record in this commit; null if there is none. */
  readonly follows: number | null
  /** Whether it is the pet's last record in this commit. */
  isLast: boolean
}

/** A quantity changed. The new quantity is also written to the stock table. */
export interface QuantityRecord extends LinkedRecord {
  readonly kind: 'change'
  readonly before: number
  readonly after: number
}

/** A pet was added, or changed in anything but its quantity. */
export interface PetChangeRecord extends LinkedRecord {
  readonly kind: 'pet'
  readonly isNew: boolean
  /** The pet and its quantity after the change. */
  readonly pet: Pet
  readonly after: number
}

interface PetRemovalRecord extends LinkedRecord {
  readonly kind: 'removed'
  readonly before: number
}

export interface OrderChangeRecord {
  readonly kind: 'order'
  /** The order after the change. */
  readonly order: Order
  readonly change: OrderChange
  readonly by: ChangeOrigin
}

/** A pet became low, or is no longer low. */
export interface ThresholdRecord {
  readonly kind: 'low' | 'recovered'
  readonly petId: bigint
  readonly entry: LockedEntry
  readonly by: ChangeOrigin
}

export interface CategoryChangeRecord {
  readonly kind: 'category'
  /** The category after the change, or before its removal. */
  readonly category: Category
  readonly change: 'created' | 'changed' | 'removed'
  readonly by: ChangeOrigin
}

export function isQuantityRecord(record: LogRecord): record is QuantityRecord {
  return record.kind === 'change'
}

export function isPetRecord(record: LogRecord): record is PetRecord {
  return record.kind === 'change' || record.kind === 'pet' || record.kind === 'removed'
}

/** The stock that a commit is building, and the log records that it writes. */
export class StockDraft {
  readonly records: LogRecord[] = []
  readonly #locked: ReadonlyMap<bigint, LockedEntry>
  readonly #changed = new Map<bigint, LockedEntry | undefined>()
  readonly #latest = new Map<bigint, PetRecord>()
  /** Whether the pets that the current command has changed were low before it. */
  readonly #wasLow = new Map<bigint, boolean>()
  readonly #reserved = new Map<bigint, number>()
  readonly #low = new Map<bigint, boolean>()

  constructor(locked: ReadonlyMap<bigint, LockedEntry>) {
    this.#locked = locked
  }

  /** The reserved units of each pet for which they changed. */
  get reserved(): ReadonlyMap<bigint, number> {
    return this.#reserved
  }

  /** Whether the pet is low, for each pet that crossed its threshold; false for a pet that was removed. */
  get low(): ReadonlyMap<bigint, boolean> {
    return this.#low
  }

  findEntry(petId: bigint): LockedEntry | undefined {
    return this.#changed.has(petId) ? this.#changed.get(petId) : this.#locked.get(petId)
  }

  findItem(petId: bigint): InventoryItem | undefined {
    const entry = this.findEntry(petId)
    return entry === undefined ? undefined : { petId, quantity: entry.quantity, status: entry.status }
  }

  setQuantity(
    { petId, quantity, status }: InventoryItem,
    newQuantity: number,
    by: ChangeOrigin,
  ): InventoryItem {
    // Requests are validated long before, so an invalid quantity here is a bug.
    if (!Number.isInteger(newQuantity) || newQuantity < 0 || newQuantity > MAX_QUANTITY)
      throw new RangeError(`${newQuantity} is not a quantity`)
    if (newQuantity !== quantity) {
      // Each command is its own object, so the same object means the same command.
      if (this.#latest.get(petId)?.by === by)
        throw new RangeError(`petId ${petId} occurs twice in one command`)
      this.#put(petId, { ...this.#require(petId), quantity: newQuantity })
      this.#record({
        kind: 'change',
        petId,
        before: quantity,
        after: newQuantity,
        status,
        by,
        ...this.#link(petId),
      })
    }
    return { petId, quantity: newQuantity, status }
  }

  changeReserved(petId: bigint, difference: number): void {
    const entry = this.#require(petId)
    const reserved = entry.reserved + difference
    if (!Number.isSafeInteger(reserved) || reserved < 0) {
      throw new RangeError(`petId ${petId} cannot have ${reserved} reserved units`)
    }
    this.#put(petId, { ...entry, reserved })
    this.#reserved.set(petId, reserved)
  }

  /** Adds a pet with its entry, or changes anything but its quantity and its reserved units. */
  putPet(pet: Pet, entry: LockedEntry, by: ChangeOrigin): void {
    const petId = pet.id
    const isNew = this.findEntry(petId) === undefined
    this.#put(petId, entry)
    const { status, quantity: after } = entry
    this.#record({ kind: 'pet', isNew, pet, after, petId, status, by, ...this.#link(petId) })
  }

  removePet(petId: bigint, by: ChangeOrigin): void {
    const { quantity: before, status } = this.#require(petId)
    this.#changed.set(petId, undefined)
    this.#wasLow.delete(petId)
    // A pet added again under this id in the same commit reuses this stock row, so the row's low flag is reset.
    this.#low.set(petId, false)
    this.#record({ kind: 'removed', before, petId, status, by, ...this.#link(petId) })
  }

  logOrder(order: Order, change: OrderChange, by: ChangeOrigin): void {
    this.records.push({ kind: 'order', order, change, by })
  }

  logCategory(category: Category, change: CategoryChangeRecord['change'], by: ChangeOrigin): void {
    this.records.push({ kind: 'category', category, change, by })
  }

  /** Ends a command. Only its effect as a whole counts as crossing a threshold. */
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
    const before = this.findEntry(petId)
    const wasLow = before !== undefined && isLow(before)
    if ((wasLow || entry.lowStockAt !== null) && !this.#wasLow.has(petId)) this.#wasLow.set(petId, wasLow)
    this.#changed.set(petId, entry)
  }

  #require(petId: bigint): LockedEntry {
    const entry = this.findEntry(petId)
    if (entry === undefined) throw new Error(`petId ${petId} has no entry`)
    return entry
  }

  #link(petId: bigint) {
    return { index: this.records.length, follows: this.#latest.get(petId)?.index ?? null, isLast: true }
  }

  #record(record: PetRecord): void {
    const earlier = this.#latest.get(record.petId)
    if (earlier !== undefined) earlier.isLast = false
    this.#latest.set(record.petId, record)
    this.records.push(record)
  }
}
