import type { InventoryItem, PetStatus } from '@petstore/client'
import { State } from '../observable.ts'
import { Barcodes } from './barcodes.ts'
import { searchable } from './search-text.ts'

/** The stock of one pet. Rows are immutable: a change replaces the row. */
export interface StockRow {
  readonly petId: bigint
  /** `undefined` until the details of a new pet are loaded. */
  readonly name: string | undefined
  readonly categoryId: bigint | undefined
  /** The pet's own threshold; without one the category's applies. */
  readonly lowStockAt: number | undefined
  readonly status: PetStatus
  readonly quantity: number
  readonly reserved: number
  /** The name and the id, folded for searches. */
  readonly searchText: string
}

export function petName({ name, petId }: Pick<StockRow, 'name' | 'petId'>): string {
  return name ?? `Pet ${petId}`
}

/** An entry of the stock. Without a name, the details of the pet stay as they are. */
export interface StockItem extends InventoryItem {
  readonly name?: string | undefined
  readonly categoryId?: bigint | undefined
  readonly lowStockAt?: number | undefined
  readonly reserved?: number | undefined
}

export interface StockSnapshot {
  /** All rows that the page holds, by petId, ascending. */
  readonly rows: readonly StockRow[]
  /** Whether `rows` has every pet of the store. A large store is searched on the server instead. */
  readonly isComplete: boolean
  readonly phase: 'loading' | 'ready' | 'failed'
  /** Why the phase is `failed`, in words for the user. */
  readonly failure: string | undefined
  /** `live` while the event stream is connected. */
  readonly connection: 'connecting' | 'live' | 'lost'
  /** Whether the load has ended: `rows` has all names and barcodes that it will get. */
  readonly hasNames: boolean
  /** Grows when a row is added, removed or renamed, or changes its status. A change of quantity leaves it as it is. */
  readonly structure: number
  /** The pets that others changed within the last seconds, with the time in milliseconds since 1970. */
  readonly recentlyChanged: ReadonlyMap<bigint, number>
}

const MARKED_FOR_MS = 3_000
/** Changes within this time are rendered together. */
const FLUSH_MS = 60

const EMPTY: StockSnapshot = {
  rows: [],
  isComplete: false,
  phase: 'loading',
  failure: undefined,
  connection: 'connecting',
  hasNames: false,
  structure: 0,
  recentlyChanged: new Map(),
}

/** The stock as the page knows it. `StockFeed` fills it. */
export class StockModel extends State<StockSnapshot> {
  readonly barcodes = new Barcodes()
  readonly #rows = new Map<bigint, StockRow>()
  /** Ascending; `undefined` after a row was added or removed. */
  #petIds: readonly bigint[] | undefined
  #structure = 0
  readonly #marks = new Map<bigint, number>()
  #flushing: ReturnType<typeof setTimeout> | undefined
  #lastFlush = 0

  constructor() {
    super(EMPTY)
  }

  /** Loads a pet that a large store has and the page does not hold. */
  onMissing: (petId: bigint) => void = () => {}

  find(petId: bigint): StockRow | undefined {
    return this.#rows.get(petId)
  }

  /** The row to show. In a large store a missing row is loaded; a later snapshot has it. */
  lookUp(petId: bigint): StockRow | undefined {
    const row = this.find(petId)
    const { hasNames, isComplete } = this.get()
    if (row === undefined && hasNames && !isComplete) this.onMissing(petId)
    return row
  }

  /** The name to show, looked up like the row. */
  nameOf(petId: bigint): string {
    return this.lookUp(petId)?.name ?? `Pet ${petId}`
  }

  /** Adds rows or replaces them. Details that an item lacks stay as they are. */
  take(items: readonly StockItem[]): void {
    for (const item of items) this.#put(item)
    this.#publish({ phase: 'ready', failure: undefined })
  }

  /** The load has ended. `all` has every pet of the store; without it the store is too large to be held here. */
  endLoading(all?: ReadonlySet<bigint>): void {
    if (all !== undefined) {
      for (const petId of this.#rows.keys()) if (!all.has(petId)) this.#delete(petId)
    }
    this.#publish({ phase: 'ready', failure: undefined, hasNames: true, isComplete: all !== undefined })
  }

  /** Sets the state of one pet, which may be new. `byOthers` marks it for a moment. */
  apply(item: StockItem, byOthers: boolean): void {
    this.#put(item)
    if (byOthers) this.#mark(item.petId)
    this.#publishSoon()
  }

  remove(petId: bigint): void {
    if (this.#delete(petId)) this.#publishSoon()
  }

  /** Sets the reserved units of a pet that the page holds. Older versions of the service do not state them. */
  setReserved(petId: bigint, reserved: number | undefined): void {
    const row = this.find(petId)
    if (row === undefined || reserved === undefined) return
    this.#put({ ...row, name: undefined, reserved })
    this.#publishSoon()
  }

  /** Publishes pending changes at once, so that a user never sees the old value of their own change. */
  publishNow(): void {
    if (this.#flushing !== undefined) this.#publish({})
  }

  setConnection(connection: StockSnapshot['connection']): void {
    if (this.get().connection !== connection) this.#publish({ connection })
  }

  fail(failure: string): void {
    this.#publish({ phase: 'failed', failure })
  }

  beginLoading(): void {
    this.#publish({ phase: 'loading', failure: undefined })
  }

  #put(item: StockItem): void {
    const { petId, status, quantity } = item
    const before = this.#rows.get(petId)
    const { name, categoryId, lowStockAt } =
      item.name === undefined ? (before ?? UNKNOWN) : { ...UNKNOWN, ...item }
    const reserved = item.reserved ?? before?.reserved ?? 0
    const isRenamed =
      before?.name !== name || before?.categoryId !== categoryId || before?.lowStockAt !== lowStockAt
    const isSame = before?.quantity === quantity && before.status === status && before.reserved === reserved
    if (before !== undefined && isSame && !isRenamed) return
    const searchText = before === undefined || isRenamed ? searchable(name) : before.searchText
    this.#rows.set(petId, { petId, name, categoryId, lowStockAt, status, quantity, reserved, searchText })
    if (before === undefined) this.#petIds = undefined
    if (isRenamed || before?.status !== status) this.#structure++
  }

  #delete(petId: bigint): boolean {
    if (!this.#rows.delete(petId)) return false
    this.#petIds = undefined
    this.#structure++
    return true
  }

  #mark(petId: bigint): void {
    const at = Date.now()
    this.#marks.set(petId, at)
    setTimeout(() => {
      if (this.#marks.get(petId) !== at) return
      this.#marks.delete(petId)
      this.#publishSoon()
    }, MARKED_FOR_MS)
  }

  #publishSoon(): void {
    if (this.#flushing !== undefined) return
    const wait = Math.max(0, this.#lastFlush + FLUSH_MS - Date.now())
    this.#flushing = setTimeout(() => this.#publish({}), wait)
  }

  #publish(changes: Partial<StockSnapshot>): void {
    clearTimeout(this.#flushing)
    this.#flushing = undefined
    this.#lastFlush = Date.now()
    this.#petIds ??= [...this.#rows.keys()].sort((one, other) => (one < other ? -1 : 1))
    this.setValue({
      ...this.get(),
      ...changes,
      rows: this.#petIds.flatMap((petId) => this.#rows.get(petId) ?? []),
      structure: this.#structure,
      recentlyChanged: new Map(this.#marks),
    })
  }
}

const UNKNOWN = { name: undefined, categoryId: undefined, lowStockAt: undefined }
