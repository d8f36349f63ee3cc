import type { Category } from '../catalog/category.ts'
import type { Pet } from '../catalog/pet.ts'
import type { Order, OrderChange } from '../orders/order.ts'
import { MAX_QUANTITY, withUpdate } from '../values/field.ts'
import { ADJUSTMENT_HEAD, type Adjustment, type AdjustmentLine, type Effect } from './adjustment.ts'
import type { ChangeOrigin } from './change-origin.ts'
import type { KnownFacts } from './facts.ts'
import type { InventoryItem, LockedEntry } from './inventory.ts'
import type { CategoryChange, OrderEventLine } from './stock-event.ts'

/** A row that a commit writes to the log. */
export type LogRecord = PetRecord | OrderChangeRecord | ThresholdRecord | CategoryChangeRecord

/** A record that changes the inventory list. */
export type PetRecord = QuantityRecord | PetChangeRecord | PetRemovalRecord

type RecordOfKind<Kind extends string, Fields> = Readonly<{ kind: Kind; by: ChangeOrigin } & Fields>
type PetRecordOfKind<Kind extends string, Fields> = RecordOfKind<
  Kind,
  { petId: bigint; status: LockedEntry['status']; reserved: number } & Fields
>

/** A line of an adjustment. */
export type QuantityRecord = PetRecordOfKind<'change', { before: number; after: number; fact: Fact }>

/**
 * A pet was added, or one of its fields other than the quantity changed. `pet` and `after` are its new state. The quantity of
 * a new pet is a fact.
 */
export type PetChangeRecord = PetRecordOfKind<'pet', { pet: Pet; after: number; fact: Fact | undefined }>

/** The removal of the pet's quantity is a fact. */
type PetRemovalRecord = PetRecordOfKind<'removed', { before: number; fact: Fact }>

/** The order after the change, and the stock of its pets. */
export type OrderChangeRecord = RecordOfKind<
  'order',
  { order: Order; change: OrderChange; lines: readonly OrderEventLine[] }
>

/** A pet became low, or is no longer low. */
export type ThresholdRecord = RecordOfKind<'low' | 'recovered', { petId: bigint; entry: LockedEntry }>

/** The category after the change, or before its removal. */
export type CategoryChangeRecord = RecordOfKind<'category', { category: Category; change: CategoryChange }>

/** What a line of an adjustment states, and what it does to the stock. */
export interface Fact {
  /** The id of the adjustment: that of its first log row. */
  readonly document: bigint
  readonly occurredAt: number
  readonly statement: Statement
  readonly effect: Effect
  readonly orderId?: bigint | undefined
  /** The adjustment that this one reverses. */
  readonly reverses?: bigint | undefined
  /** What only the first row of an adjustment has. */
  readonly head?:
    | { readonly note?: string | undefined; readonly lines: readonly AdjustmentLine[] }
    | undefined
}

/**
 * Units moved, units were counted, or an earlier count is taken back; then `countedAt` is the time of the count before it. The
 * stock of a pet is its latest count that was not taken back, plus all movements after it.
 */
export type Statement =
  | { readonly type: 'movement'; readonly delta: number }
  | { readonly type: 'count'; readonly counted: number }
  | { readonly type: 'count_reversal'; readonly countedAt: number }

/** An adjustment that a commit records. */
export interface RecordedDocument extends DocumentHead {
  readonly id: bigint
  readonly lines: AdjustmentLine[]
}

interface DocumentHead {
  readonly by: ChangeOrigin
  readonly occurredAt: number
  readonly note?: string | undefined
  readonly orderId?: bigint | undefined
  readonly reverses?: bigint | undefined
}

/** A line of an adjustment that can be recorded. */
export interface PlannedFact {
  readonly petId: bigint
  readonly after: number
  readonly statement: Statement
  readonly effect: Effect
}

/** The kinds of records that change the inventory list. */
export const INVENTORY_KINDS = ['change', 'pet', 'removed'] as const satisfies readonly PetRecord['kind'][]

export function isPetRecord(record: LogRecord): record is PetRecord {
  return INVENTORY_KINDS.some((kind) => kind === record.kind)
}

export function factOf(record: LogRecord): Fact | undefined {
  return isPetRecord(record) ? record.fact : undefined
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
export function isLow(entry: Pick<LockedEntry, 'quantity' | 'reserved' | 'lowStockAt'>): boolean {
  return entry.lowStockAt !== null && availableOf(entry) <= entry.lowStockAt
}

/** An entry that a commit writes; `undefined` if the pet was removed. */
export interface EntryChange {
  readonly entry: LockedEntry | undefined
  /** Whether the pet had no entry before the commit. */
  readonly isNew: boolean
}

/** The stock that a commit is building, and the log records that it writes. */
export class StockDraft {
  readonly records: LogRecord[] = []
  readonly facts: KnownFacts
  readonly #locked: ReadonlyMap<bigint, LockedEntry>
  readonly #firstLogId: bigint
  readonly #changed = new Map<bigint, LockedEntry | undefined>()
  /** The latest adjustment of each pet. */
  readonly #latestDocuments = new Map<bigint, bigint>()
  /** For each pet that the current command has changed: whether it was low before the command. */
  readonly #wasLow = new Map<bigint, boolean>()

  /** The records get the ids from `firstLogId` on. */
  constructor(locked: ReadonlyMap<bigint, LockedEntry>, facts: KnownFacts, firstLogId = 1n) {
    this.#locked = locked
    this.facts = facts
    this.#firstLogId = firstLogId
  }

  get changes(): ReadonlyMap<bigint, EntryChange> {
    const toChange = ([petId, entry]: readonly [bigint, LockedEntry | undefined]) =>
      [petId, { entry, isNew: !this.#locked.has(petId) }] as const
    return new Map(Array.from(this.#changed, toChange))
  }

  findEntry(petId: bigint): LockedEntry | undefined {
    return this.#changed.has(petId) ? this.#changed.get(petId) : this.#locked.get(petId)
  }

  requireEntry(petId: bigint): LockedEntry {
    const entry = this.findEntry(petId)
    if (entry === undefined) throw new Error(`petId ${petId} has no entry`)
    return entry
  }

  /**
   * The time of facts that happen now. It is not before the time of any earlier fact of these pets, so a clock that differs
   * between instances or devices cannot put an earlier fact after this one.
   */
  timeOfNow(at: number, petIds: readonly bigint[]): number {
    let time = at
    for (const petId of petIds) {
      const { countedAt = null, movedAt = null } = this.findEntry(petId) ?? {}
      time = Math.max(time, countedAt ?? time, movedAt ?? time)
    }
    return time
  }

  /** The units that came in, less those that went out, after this time. */
  laterUnits(petId: bigint, time: number): number {
    let units = 0
    const { movedAt = null } = this.#locked.get(petId) ?? {}
    if (movedAt !== null && movedAt > time) units += this.facts.answer({ type: 'later_units', petId, time })
    for (const record of this.records) {
      const fact = factOf(record)
      if (fact?.statement.type !== 'movement' || fact.occurredAt <= time) continue
      if (isPetRecord(record) && record.petId === petId) units += fact.statement.delta
    }
    return units
  }

  /** Begins an adjustment. Its lines must be the next records. */
  openDocument(head: DocumentHead): RecordedDocument {
    return { ...head, id: this.#nextLogId(), lines: [] }
  }

  record(document: RecordedDocument, { petId, after, statement, effect }: PlannedFact): InventoryItem {
    if (this.#latestDocuments.get(petId) === document.id) {
      throw new RangeError(`petId ${petId} occurs twice in one command`)
    }
    this.#latestDocuments.set(petId, document.id)
    if (this.#nextLogId() !== document.id + BigInt(document.lines.length)) {
      throw new Error(`the lines of adjustment ${document.id} must be consecutive`)
    }
    const { by, occurredAt } = document
    const entry = this.requireEntry(petId)
    const { quantity: before, status, reserved } = entry
    this.#putQuantity(petId, entry, after, { occurredAt, statement, effect })
    const fact = factIn(document, statement, effect)
    document.lines.push(lineOf(petId, before, after, fact))
    this.records.push({ kind: 'change', petId, before, after, status, reserved, fact, by })
    return { petId, quantity: after, status }
  }

  changeReserved(petId: bigint, difference: number): void {
    const entry = this.requireEntry(petId)
    const reserved = entry.reserved + difference
    if (!Number.isSafeInteger(reserved) || reserved < 0) {
      throw new RangeError(`petId ${petId} cannot have ${reserved} reserved units`)
    }
    this.#putEntry(petId, { ...entry, reserved })
  }

  addPet(pet: Pet, quantity: number, lowStockAt: number | null, by: ChangeOrigin): void {
    const { id: petId, status } = pet
    const statement = { type: 'count', counted: quantity } as const
    const document = this.openDocument({ by, occurredAt: by.at })
    this.#putEntry(petId, {
      quantity,
      status,
      reserved: 0,
      lowStockAt,
      countedAt: by.at,
      movedAt: null,
    })
    const fact = factIn(document, statement, 'applied')
    this.records.push({ kind: 'pet', pet, after: quantity, petId, status, reserved: 0, fact, by })
  }

  /** The pet has changed, but not its quantity. */
  changePet(pet: Pet, lowStockAt: number | null, by: ChangeOrigin): void {
    const { id: petId, status } = pet
    const entry = { ...this.requireEntry(petId), status, lowStockAt }
    this.#putEntry(petId, entry)
    const { quantity: after, reserved } = entry
    this.records.push({ kind: 'pet', pet, after, petId, status, reserved, fact: undefined, by })
  }

  setThreshold(petId: bigint, lowStockAt: number | null): void {
    this.#putEntry(petId, { ...this.requireEntry(petId), lowStockAt })
  }

  removePet(petId: bigint, by: ChangeOrigin): void {
    const { quantity: before, status, reserved } = this.requireEntry(petId)
    this.#changed.set(petId, undefined)
    this.#wasLow.delete(petId)
    const document = this.openDocument({ by, occurredAt: by.at })
    const fact = factIn(document, { type: 'count', counted: 0 }, 'applied')
    this.records.push({ kind: 'removed', before, petId, status, reserved, fact, by })
  }

  logOrder(order: Order, change: OrderChange, by: ChangeOrigin): void {
    const lines = order.lines.map(({ petId, quantity }) => {
      const entry = this.findEntry(petId)
      const stock = entry === undefined ? {} : { reserved: entry.reserved, available: availableOf(entry) }
      return { petId, quantity, ...stock }
    })
    this.records.push({ kind: 'order', order, change, lines, by })
  }

  logCategory(category: Category, change: CategoryChange, by: ChangeOrigin): void {
    this.records.push({ kind: 'category', category, change, by })
  }

  /** Must be called at the end of each command: only the effect of the whole command can cross a threshold. */
  logThresholdCrossings(by: ChangeOrigin): void {
    for (const [petId, wasLow] of this.#wasLow) {
      const entry = this.requireEntry(petId)
      const isLowNow = isLow(entry)
      if (isLowNow !== wasLow) this.records.push({ kind: isLowNow ? 'low' : 'recovered', petId, entry, by })
    }
    this.#wasLow.clear()
  }

  #nextLogId(): bigint {
    return this.#firstLogId + BigInt(this.records.length)
  }

  #putQuantity(
    petId: bigint,
    entry: LockedEntry,
    after: number,
    { occurredAt, statement, effect }: Pick<Fact, 'occurredAt' | 'statement' | 'effect'>,
  ): void {
    assertQuantity(after)
    const { countedAt, movedAt } = entry
    switch (statement.type) {
      case 'movement':
        this.#putEntry(petId, {
          ...entry,
          quantity: after,
          movedAt: Math.max(occurredAt, movedAt ?? occurredAt),
        })
        break
      case 'count':
        this.#putEntry(petId, {
          ...entry,
          quantity: after,
          countedAt: effect === 'applied' ? occurredAt : countedAt,
        })
        break
      case 'count_reversal':
        this.#putEntry(petId, { ...entry, quantity: after, countedAt: statement.countedAt })
        break
    }
  }

  #putEntry(petId: bigint, entry: LockedEntry): void {
    const before = this.findEntry(petId)
    const wasLow = before !== undefined && isLow(before)
    if ((wasLow || entry.lowStockAt !== null) && !this.#wasLow.has(petId)) this.#wasLow.set(petId, wasLow)
    this.#changed.set(petId, entry)
  }
}

export function assertQuantity(quantity: number): void {
  if (!Number.isInteger(quantity) || quantity < 0 || quantity > MAX_QUANTITY) {
    throw new RangeError(`the quantity must be an integer from 0 to ${MAX_QUANTITY}, got ${quantity}`)
  }
}

function factIn(document: RecordedDocument, statement: Statement, effect: Effect): Fact {
  const { id, occurredAt, orderId, reverses, lines } = document
  const head = lines.length === 0 ? document : undefined
  return { document: id, occurredAt, statement, effect, orderId, reverses, head }
}

function lineOf(petId: bigint, before: number, after: number, { statement, effect }: Fact): AdjustmentLine {
  const isMovement = statement.type === 'movement'
  const counted = statement.type === 'count' ? { counted: statement.counted } : {}
  const delta = isMovement ? statement.delta : after - before
  return { petId, before, after, delta, ...counted, effect, reversed: 0 }
}

/** The adjustment as callers see it right after it was recorded. */
export function toAdjustment({ by, lines, ...document }: RecordedDocument): Adjustment {
  const { reason, reference, keyId, at: recordedAt } = by
  const { id, occurredAt } = document
  const head = withUpdate(
    ADJUSTMENT_HEAD,
    { id, occurredAt, recordedAt, keyId },
    { reason, reference, ...document },
  )
  return { ...head, reversedBy: [], lines }
}
