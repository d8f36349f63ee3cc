import type { Category } from '../catalog/category.ts'
import type { Pet } from '../catalog/pet.ts'
import type { Order, OrderChange } from '../orders/order.ts'
import { MAX_QUANTITY } from '../values/field.ts'
import type { ChangeOrigin } from './command.ts'
import type { InventoryItem, LockedEntry } from './inventory.ts'
import type { CategoryChange } from './stock-event.ts'

/** A row that a commit writes to the log. */
export type LogRecord = PetRecord | OrderChangeRecord | ThresholdRecord | CategoryChangeRecord

/** A record that changes the inventory list. */
export type PetRecord = QuantityRecord | PetChangeRecord | PetRemovalRecord

type RecordOfKind<Kind extends string, Fields> = Readonly<{ kind: Kind; by: ChangeOrigin } & Fields>
type PetRecordOfKind<Kind extends string, Fields> = RecordOfKind<
  Kind,
  { petId: bigint; status: LockedEntry['status'] } & Fields
>

export type QuantityRecord = PetRecordOfKind<'change', { before: number; after: number }>

/** A pet was added, or one of its fields other than the quantity changed. `pet` and `after` are its new state. */
export type PetChangeRecord = PetRecordOfKind<'pet', { isNew: boolean; pet: Pet; after: number }>

type PetRemovalRecord = PetRecordOfKind<'removed', { before: number }>

/** The order after the change. */
export type OrderChangeRecord = RecordOfKind<'order', { order: Order; change: OrderChange }>

/** A pet became low, or is no longer low. */
export type ThresholdRecord = RecordOfKind<'low' | 'recovered', { petId: bigint; entry: LockedEntry }>

/** The category after the change, or before its removal. */
export type CategoryChangeRecord = RecordOfKind<'category', { category: Category; change: CategoryChange }>

export function isQuantityRecord(record: LogRecord): record is QuantityRecord {
  return record.kind === 'change'
}

/** The kinds of records that change the inventory list. */
export const INVENTORY_KINDS = ['change', 'pet', 'removed'] as const satisfies readonly PetRecord['kind'][]

export function isPetRecord(record: LogRecord): record is PetRecord {
  return INVENTORY_KINDS.some((kind) => kind === record.kind)
}

/** The units that can be ordered. Negative if the quantity was set below the reserved units. */
export function availableOf({ quantity, reserved }: Pick<LockedEntry, 'quantity' | 'reserved'>): number {
  return quantity - reserved
}

/**
 * Throws if the ids are used up, which would be a bug of the store: it must read enough free ids for the commands of a
 * commit.
 */
export function takeId(
  ids: readonly bigint[],
  index: number,
  noun: 'pets' | 'categories' | 'orders',
): bigint {
  const id = ids[index]
  if (id === undefined) throw new Error(`there are only ${ids.length} ids for new ${noun}`)
  return id
}

interface OwnThreshold {
  readonly lowStockAt?: number | undefined
}

/** The threshold that applies to a pet. THRESHOLD of store/low-stock.ts is the same rule in SQL. */
export function thresholdOf(pet: OwnThreshold, category: OwnThreshold | undefined): number | null {
  return pet.lowStockAt ?? category?.lowStockAt ?? null
}

/** IS_LOW of store/low-stock.ts is the same rule in SQL. */
export function isLow(entry: Omit<LockedEntry, 'status'>): boolean {
  return entry.lowStockAt !== null && availableOf(entry) <= entry.lowStockAt
}

/** The stock that a commit is building, and the log records that it writes. */
export class StockDraft {
  readonly records: LogRecord[] = []
  /** The new quantity of each pet whose quantity changed after it was created. */
  readonly quantities = new Map<bigint, number>()
  /** The new reserved units of each pet whose reserved units changed. */
  readonly reserved = new Map<bigint, number>()
  /** Whether the pet is low now, for each pet that crossed its threshold; false for a removed pet. */
  readonly low = new Map<bigint, boolean>()
  readonly #locked: ReadonlyMap<bigint, LockedEntry>
  readonly #changed = new Map<bigint, LockedEntry | undefined>()
  /** The latest change of each pet's quantity. Compared by reference, to detect a command that names a pet twice. */
  readonly #changedBy = new Map<bigint, ChangeOrigin>()
  /** For each pet that the current command has changed: whether it was low before the command. */
  readonly #wasLow = new Map<bigint, boolean>()

  constructor(locked: ReadonlyMap<bigint, LockedEntry>) {
    this.#locked = locked
  }

  findEntry(petId: bigint): LockedEntry | undefined {
    return this.#changed.has(petId) ? this.#changed.get(petId) : this.#locked.get(petId)
  }

  requireEntry(petId: bigint): LockedEntry {
    const entry = this.findEntry(petId)
    if (entry === undefined) throw new Error(`petId ${petId} has no entry`)
    return entry
  }

  setQuantity(petId: bigint, after: number, by: ChangeOrigin): InventoryItem {
    if (!Number.isInteger(after) || after < 0 || after > MAX_QUANTITY) {
      throw new RangeError(`the quantity must be an integer from 0 to ${MAX_QUANTITY}, got ${after}`)
    }
    const entry = this.requireEntry(petId)
    const { quantity: before, status } = entry
    if (after !== before) {
      if (this.#changedBy.get(petId) === by) {
        throw new RangeError(`petId ${petId} occurs twice in one command`)
      }
      this.#changedBy.set(petId, by)
      this.#putEntry(petId, { ...entry, quantity: after })
      this.quantities.set(petId, after)
      this.records.push({ kind: 'change', before, after, petId, status, by })
    }
    return { petId, quantity: after, status }
  }

  changeReserved(petId: bigint, difference: number): void {
    const entry = this.requireEntry(petId)
    const reserved = entry.reserved + difference
    if (!Number.isSafeInteger(reserved) || reserved < 0) {
      throw new RangeError(`petId ${petId} cannot have ${reserved} reserved units`)
    }
    this.#putEntry(petId, { ...entry, reserved })
    this.reserved.set(petId, reserved)
  }

  /** Adds a pet, or replaces its entry, which must keep its quantity and reserved units. */
  putPet(pet: Pet, entry: LockedEntry, by: ChangeOrigin): void {
    const petId = pet.id
    const isNew = this.findEntry(petId) === undefined
    this.#putEntry(petId, entry)
    const { status, quantity: after } = entry
    this.records.push({ kind: 'pet', isNew, pet, after, petId, status, by })
  }

  setThreshold(petId: bigint, lowStockAt: number | null): void {
    this.#putEntry(petId, { ...this.requireEntry(petId), lowStockAt })
  }

  removePet(petId: bigint, by: ChangeOrigin): void {
    const { quantity: before, status } = this.requireEntry(petId)
    this.#changed.set(petId, undefined)
    this.#wasLow.delete(petId)
    // If the same commit adds the pet again, it reuses the stock row, so the row's low flag must be reset.
    this.low.set(petId, false)
    this.quantities.delete(petId)
    this.records.push({ kind: 'removed', before, petId, status, by })
  }

  logOrder(order: Order, change: OrderChange, by: ChangeOrigin): void {
    this.records.push({ kind: 'order', order, change, by })
  }

  logCategory(category: Category, change: CategoryChange, by: ChangeOrigin): void {
    this.records.push({ kind: 'category', category, change, by })
  }

  /** Must be called at the end of each command: only the effect of the whole command can cross a threshold. */
  logThresholdCrossings(by: ChangeOrigin): void {
    for (const [petId, wasLow] of this.#wasLow) {
      const entry = this.requireEntry(petId)
      const isLowNow = isLow(entry)
      if (isLowNow === wasLow) continue
      this.low.set(petId, isLowNow)
      this.records.push({ kind: isLowNow ? 'low' : 'recovered', petId, entry, by })
    }
    this.#wasLow.clear()
  }

  #putEntry(petId: bigint, entry: LockedEntry): void {
    const before = this.findEntry(petId)
    const wasLow = before !== undefined && isLow(before)
    if ((wasLow || entry.lowStockAt !== null) && !this.#wasLow.has(petId)) this.#wasLow.set(petId, wasLow)
    this.#changed.set(petId, entry)
  }
}
