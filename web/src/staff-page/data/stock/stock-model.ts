import type { InventoryItem, PetStatus } from '@petstore/client'
import { Observable, type Readable } from '../observable.ts'
import { Barcodes } from './barcodes.ts'
import { searchable } from './search-text.ts'

/** One pet's stock. A row is never changed: a pet whose stock changes gets another row. */
export interface StockRow {
  readonly petId: bigint
  /** Names and categories come a little later than quantities. */
  readonly name: string | undefined
  readonly categoryId: bigint | undefined
  /** Its own threshold; without one its category's counts. */
  readonly lowStockAt: number | undefined
  readonly status: PetStatus
  readonly quantity: number
  /** How many of them open orders reserve, as far as that is known: 0 until it is. */
  readonly reserved: number
  /** The name and the id as the search compares them. */
  readonly searchText: string
}

export interface StockSnapshot {
  /** By petId, ascending. */
  readonly rows: readonly StockRow[]
  readonly phase: 'loading' | 'ready' | 'failed'
  /** Why the phase is `failed`, in words for the user. */
  readonly failure: string | undefined
  /** `live` while the stream of changes stands. */
  readonly connection: 'connecting' | 'live' | 'lost'
  /** Whether all names are there. */
  readonly hasNames: boolean
  /** Grows with every change. */
  readonly version: number
  /** Grows when rows come, go or get their names, but not when a quantity changes. */
  readonly structure: number
  /** What others changed a moment ago, and when, in milliseconds since 1970. */
  readonly recentlyChanged: ReadonlyMap<bigint, number>
}

export interface CatalogEntry {
  readonly petId: bigint
  readonly name: string
  readonly categoryId: bigint
  readonly lowStockAt?: number | undefined
}

/** How long a change by somebody else stays marked. */
const MARKED_FOR_MS = 3_000
/** Changes that come within this time are drawn together, so that a busy store does not keep the page busy. */
const FLUSH_MS = 60

const NOTHING: StockSnapshot = {
  rows: [],
  phase: 'loading',
  failure: undefined,
  connection: 'connecting',
  hasNames: false,
  version: 0,
  structure: 0,
  recentlyChanged: new Map(),
}

/** The stock as the page knows it. It asks nobody: `StockFeed` tells it what the service says. */
export class StockModel implements Readable<StockSnapshot> {
  readonly barcodes = new Barcodes()
  readonly #snapshot = new Observable<StockSnapshot>(NOTHING)
  /** The rows to come; the snapshot's own array is never touched. */
  #rows: StockRow[] = []
  #ownsRows = true
  #structure = 0
  #reserved = new Map<bigint, number>()
  #marks = new Map<bigint, number>()
  #flushing: ReturnType<typeof setTimeout> | undefined
  #unmarking: ReturnType<typeof setTimeout> | undefined
  #lastFlush = 0

  readonly get = this.#snapshot.get
  readonly subscribe = this.#snapshot.subscribe

  find(petId: bigint): StockRow | undefined {
    const row = this.#rows[this.#place(petId)]
    return row?.petId === petId ? row : undefined
  }

  /** Takes the whole list, by petId; keeps the names that are known. */
  replaceAll(items: readonly InventoryItem[]): void {
    const known = this.#rows
    let next = 0
    this.#rows = items.map((item) => {
      while (next < known.length && (known[next]?.petId ?? 0n) < item.petId) next++
      const before = known[next]
      return before?.petId === item.petId ? withState(before, item) : this.#newRow(item)
    })
    this.#ownsRows = true
    this.#structure++
    this.#publish({ phase: 'ready', failure: undefined })
  }

  /** Takes names, by petId; those of pets without stock are left out. */
  addNames(entries: readonly CatalogEntry[], isLast: boolean): void {
    for (const entry of entries) this.#setName(entry)
    this.#structure++
    this.#publish({ hasNames: isLast || this.get().hasNames })
  }

  /** Takes what one pet is, as it was just told of. */
  rename(entry: CatalogEntry): void {
    if (!this.#setName(entry)) return
    this.#structure++
    this.#publishSoon()
  }

  /** Sets the state of one entry, which may be new. `byOthers` marks it for a moment. */
  apply(item: InventoryItem, byOthers: boolean): 'known' | 'new' {
    const place = this.#place(item.petId)
    const before = this.#rows[place]
    const isKnown = before?.petId === item.petId
    if (isKnown) {
      if (before.quantity !== item.quantity || before.status !== item.status) {
        this.#writable()[place] = withState(before, item)
        if (before.status !== item.status) this.#structure++
      }
    } else {
      this.#writable().splice(place, 0, this.#newRow(item))
      this.#structure++
    }
    if (byOthers) this.#mark(item.petId)
    this.#publishSoon()
    return isKnown ? 'known' : 'new'
  }

  remove(petId: bigint): void {
    const place = this.#place(petId)
    if (this.#rows[place]?.petId !== petId) return
    this.#writable().splice(place, 1)
    this.#structure++
    this.#publishSoon()
  }

  /** Takes what is reserved of every pet. */
  replaceReserved(reserved: ReadonlyMap<bigint, number>): void {
    const before = this.#reserved
    this.#reserved = new Map(reserved)
    for (const petId of new Set([...before.keys(), ...reserved.keys()])) this.#showReserved(petId)
    this.#publishSoon()
  }

  /** So many more are reserved of a pet, or fewer. */
  reserve(petId: bigint, difference: number): void {
    const reserved = (this.#reserved.get(petId) ?? 0) + difference
    if (reserved === 0) this.#reserved.delete(petId)
    else this.#reserved.set(petId, reserved)
    this.#showReserved(petId)
    this.#publishSoon()
  }

  /** Shows at once what was applied, where it waits for more: so that what a user has saved is not shown as it was. */
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

  /** Forgets everything and stops its timers. */
  clear(): void {
    clearTimeout(this.#flushing)
    clearTimeout(this.#unmarking)
    this.barcodes.clear()
    this.#rows = []
    this.#ownsRows = true
    this.#reserved = new Map()
    this.#marks = new Map()
    this.#snapshot.set({ ...NOTHING, version: this.get().version + 1, structure: ++this.#structure })
  }

  /** Where this pet is, or where it would be. */
  #place(petId: bigint): number {
    let low = 0
    let high = this.#rows.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#rows[middle]?.petId ?? 0n) < petId) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Whether that is another one than before. */
  #setName({ petId, name, categoryId, lowStockAt }: CatalogEntry): boolean {
    const place = this.#place(petId)
    const row = this.#rows[place]
    if (row?.petId !== petId) return false
    if (row.name === name && row.categoryId === categoryId && row.lowStockAt === lowStockAt) return false
    this.#writable()[place] = { ...row, name, categoryId, lowStockAt, searchText: searchable(name, petId) }
    return true
  }

  #newRow({ petId, status, quantity }: InventoryItem): StockRow {
    const reserved = this.#reserved.get(petId) ?? 0
    const searchText = searchable(undefined, petId)
    const unknown = { name: undefined, categoryId: undefined, lowStockAt: undefined }
    return { petId, ...unknown, status, quantity, reserved, searchText }
  }

  #showReserved(petId: bigint): void {
    const place = this.#place(petId)
    const row = this.#rows[place]
    const reserved = this.#reserved.get(petId) ?? 0
    if (row?.petId === petId && row.reserved !== reserved) this.#writable()[place] = { ...row, reserved }
  }

  #writable(): StockRow[] {
    if (!this.#ownsRows) {
      this.#rows = this.#rows.slice()
      this.#ownsRows = true
    }
    return this.#rows
  }

  #mark(petId: bigint): void {
    this.#marks.delete(petId)
    this.#marks.set(petId, Date.now())
    this.#unmarking ??= setTimeout(() => this.#unmark(), MARKED_FOR_MS)
  }

  #unmark(): void {
    this.#unmarking = undefined
    const now = Date.now()
    for (const [petId, at] of this.#marks) {
      if (at + MARKED_FOR_MS > now) {
        this.#unmarking = setTimeout(() => this.#unmark(), at + MARKED_FOR_MS - now)
        break
      }
      this.#marks.delete(petId)
    }
    this.#publish({})
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
    this.#ownsRows = false
    const before = this.get()
    this.#snapshot.set({
      ...before,
      ...changes,
      rows: this.#rows,
      version: before.version + 1,
      structure: this.#structure,
      recentlyChanged: new Map(this.#marks),
    })
  }
}

function withState(row: StockRow, { status, quantity }: InventoryItem): StockRow {
  return row.status === status && row.quantity === quantity ? row : { ...row, status, quantity }
}
