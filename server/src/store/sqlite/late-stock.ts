import { type InventoryItem, mustBeQuantity, type PetStatus } from '../../core/stock/inventory.ts'
import { KnownStock } from '../../core/stock/known-stock.ts'
import type { Connection } from './connection.ts'
import { IdList } from './id-list.ts'
import { isSameEnd, type LogEnd, logEndReader } from './log-end.ts'
import { settle } from './settle.ts'

/** A store that is read, or opened after a crash, has so many changes to look at, and as many that are being settled. */
const MOST_LATE = 50_000
/** Where there are many pets, more may be late, so that many changes still share a page that is written. */
const MOST_LATE_OF_PETS = 1 / 4
/** So that settling is done before as many are late again, and goes on most of the time: commits take about the same. */
const SETTLED_FOR_EACH_CHANGE = 1.05

interface SettledRow {
  quantity: bigint
  status: PetStatus
  last_change: bigint | null
}

/**
 * An update writes its row of the history, and nothing else: the stock of its pet is late. Once many are late, they are
 * settled in the order of their ids, some with each commit, so that a page of stock is written once for all the
 * changes in it. Writing it with each of them took 6 times the bytes with 10,000 pets.
 *
 * What the stock is meanwhile is known in memory, and to everybody else by the view `stock`. Inside a transaction the
 * end of the log tells whether what is known still holds: if anybody else has written, it is forgotten.
 */
export class LateStock {
  readonly #connection: Connection
  readonly #mostLate: number
  readonly #logEnd
  readonly #settled
  readonly #record
  readonly #settleOne
  readonly #settledUpTo
  readonly #known = new KnownStock()
  /** The end of the log for which everything known is true. */
  #knownEnd: LogEnd | undefined
  /** Another number each time that all was forgotten. */
  #memory = 0
  /** Whether `#late` and `#settling` name every pet that is late. All of them are known. */
  #namesAllLate = false
  #late = new IdList()
  #settling: BigInt64Array = new BigInt64Array(0)
  #settlingFrom = 0
  #settlingUpTo = 0
  #lastId = 0

  constructor(connection: Connection, mostLate = MOST_LATE) {
    const { database } = connection
    this.#connection = connection
    this.#mostLate = mostLate
    this.#logEnd = logEndReader(database)
    this.#settled = database.query<SettledRow, [bigint]>(
      'SELECT quantity, status, last_change FROM settled_stock WHERE pet_id = ?',
    )
    this.#record = database.query<
      unknown,
      [number, bigint, number, number, number, string, PetStatus, number | null]
    >(
      'INSERT INTO history (id, pet_id, before, after, at, key_id, status, previous) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    )
    this.#settleOne = database.query<unknown, [number, number | null, bigint]>(
      'UPDATE settled_stock SET quantity = ?, last_change = ? WHERE pet_id = ?',
    )
    this.#settledUpTo = database.query<unknown, [number]>('UPDATE settled SET up_to = max(up_to, ?)')
  }

  /** Runs `work`, which may use `find` and `change`, in one transaction that is on disk when the promise resolves. */
  write<T>(work: () => T): Promise<T> {
    let changes = 0n
    return this.#connection.write(
      () => {
        const end = this.#logEnd()
        changes = end.changes
        this.#lookAround(end)
        // Nothing is sure again until the commit is made.
        this.#knownEnd = undefined
        this.#lastId = Number(end.history)
        const result = work()
        this.#settleSome(this.#lastId - Number(end.history))
        return result
      },
      () => {
        this.#knownEnd = { history: BigInt(this.#lastId), changes }
      },
    )
  }

  /** What the stock of the pet is, to be asked for piece by piece; undefined where there is no such pet. */
  find(petId: bigint): number | undefined {
    const place = this.#known.placeOf(petId)
    if (place !== undefined) return place
    const row = this.#settled.get(petId)
    if (row === null) return undefined
    return this.#known.add(petId, Number(row.quantity), row.status, numberOrNull(row.last_change))
  }

  quantityAt(place: number): number {
    return this.#known.quantityAt(place)
  }

  statusAt(place: number): PetStatus {
    return this.#known.statusAt(place)
  }

  /** Sets the quantity of the pet at this place, and records who did it and when. */
  change(place: number, petId: bigint, quantity: number, at: number, keyId: string): void {
    mustBeQuantity(quantity)
    const known = this.#known
    const id = this.#lastId + 1
    const before = known.quantityAt(place)
    this.#record.run(id, petId, before, quantity, at, keyId, known.statusAt(place), known.lastChangeAt(place))
    known.change(place, quantity, id)
    this.#late.push(petId)
    this.#lastId = id
  }

  /** Settles what a process that ended has left: at once, or once nobody else writes. Nobody has to wait for it. */
  settleLeftovers(): void {
    if (!this.#namesAllLate) this.write(() => {}).catch(() => {})
  }

  /** The pet's latest row of the history: null where it has none, undefined where only `stock` can tell. */
  latestChangeOf(petId: bigint): number | null | undefined {
    if (!this.#namesAllLate || this.#knownEnd === undefined) return undefined
    if (!isSameEnd(this.#knownEnd, this.#logEnd())) return undefined
    const place = this.find(petId)
    return place === undefined ? null : this.#known.lastChangeAt(place)
  }

  /** For somebody who reads the whole stock anyway, as it was at this end of the log. */
  learnFrom(end: LogEnd, pets: number): (item: InventoryItem, lastChange: bigint | null) => void {
    if (this.#knownEnd === undefined || !isSameEnd(this.#knownEnd, end)) {
      this.#forget()
      this.#knownEnd = end
    }
    if (this.#known.pets === pets) return () => {}
    this.#known.makeRoomFor(pets)
    const memory = this.#memory
    return ({ petId, quantity, status }, lastChange) => {
      // Not over what is known already, which may be newer.
      if (memory === this.#memory) this.#known.add(petId, quantity, status, numberOrNull(lastChange))
    }
  }

  #lookAround(end: LogEnd): void {
    if (this.#knownEnd === undefined || !isSameEnd(this.#knownEnd, end)) this.#forget()
    if (this.#namesAllLate) return
    settle(this.#connection.database)
    this.#namesAllLate = true
  }

  #forget(): void {
    this.#memory++
    this.#known.clear()
    this.#namesAllLate = false
    this.#late = new IdList()
    this.#settling = new BigInt64Array(0)
    this.#settlingFrom = 0
  }

  #settleSome(changes: number): void {
    const pets = this.#settling
    if (this.#settlingFrom === pets.length) {
      if (this.#late.length >= Math.max(this.#mostLate, MOST_LATE_OF_PETS * this.#known.pets))
        this.#startSettling()
      return
    }
    for (let left = SETTLED_FOR_EACH_CHANGE * changes; left > 0 && this.#settlingFrom < pets.length; left--) {
      const petId = pets[this.#settlingFrom] as bigint
      const place = this.#known.placeOf(petId) as number
      this.#settleOne.run(this.#known.quantityAt(place), this.#known.lastChangeAt(place), petId)
      do this.#settlingFrom++
      while (pets[this.#settlingFrom] === petId)
    }
    if (this.#settlingFrom === pets.length) this.#settledUpTo.run(this.#settlingUpTo)
  }

  #startSettling(): void {
    this.#settling = this.#late.sorted()
    this.#settlingFrom = 0
    this.#settlingUpTo = this.#lastId
    this.#late = new IdList()
  }
}

function numberOrNull(id: bigint | null): number | null {
  return id === null ? null : Number(id)
}
