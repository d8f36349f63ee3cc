import {
  type InventoryItem,
  isAllowed,
  mustBeQuantity,
  type PetStatus,
  type QuantityChange,
  type QuantityOutcome,
} from '../../core/stock/inventory.ts'
import { KnownStock } from '../../core/stock/known-stock.ts'
import type { LogEnd, LogRow } from './log.ts'

/** Changes that are worked out, to be written behind this place in the log. */
export interface Batch {
  readonly after: LogEnd
  readonly outcomes: QuantityOutcome[]
  readonly made: readonly Made[]
}

/** A change that leaves a row in the history. */
export interface Made {
  readonly change: QuantityChange
  /** Where the pet stands in what is known. */
  readonly place: number
  readonly before: number
  readonly status: PetStatus
}

export interface Learning {
  add(items: readonly InventoryItem[]): void
  finish(): void
}

/** The stock as this process knows it, up to a place in the log. */
export class KnownLog {
  #stock = new KnownStock()
  #end: LogEnd | undefined
  /** A batch is worked out, and may come to nothing: until that is decided nothing else is learned. */
  #isUndecided = false

  /** The place up to which everything is known; undefined where nothing is. */
  get end(): LogEnd | undefined {
    return this.#end
  }

  /** For somebody who reads the whole stock as it is at this place in the log. Nothing where that is known already. */
  startLearning(end: LogEnd): Learning | undefined {
    if (this.#isUpTo(end)) return undefined
    const stock = new KnownStock()
    return {
      add: (items) => {
        for (const { petId, quantity, status } of items) stock.set(petId, quantity, status)
      },
      finish: () => {
        if (this.#isUndecided || this.#isUpTo(end)) return
        this.#stock = stock
        this.#end = end
      },
    }
  }

  /** For somebody who reads what happened between two places. What is known already may be among it. */
  learn(from: LogEnd, rows: readonly LogRow[], to: LogEnd): void {
    const end = this.#end
    if (this.#isUndecided || end === undefined || this.#isUpTo(to)) return
    if (end.database !== from.database || end.position < from.position) return
    for (const { pet_id, quantity, status } of rows) {
      if (pet_id === null) continue
      if (quantity === null || status === null) this.#stock.remove(pet_id)
      else this.#stock.set(pet_id, Number(quantity), status)
    }
    this.#end = to
  }

  forget(): void {
    this.#stock = new KnownStock()
    this.#end = undefined
  }

  /** Makes the changes in memory, in the order given; they have to be accepted or undone. */
  workOut(changes: readonly QuantityChange[], after: LogEnd): Batch {
    for (const { quantity } of changes) mustBeQuantity(quantity)
    const stock = this.#stock
    const made: Made[] = []
    const outcomes = changes.map((change): QuantityOutcome => {
      const { petId, quantity } = change
      const place = stock.placeOf(petId)
      if (place === undefined) return 'unknown_pet'
      const status = stock.statusAt(place)
      const found = { petId, quantity: stock.quantityAt(place), status }
      if (!isAllowed(change, found)) return { conflict: found }
      if (found.quantity === quantity) return found
      made.push({ change, place, before: found.quantity, status })
      stock.change(place, quantity, 0)
      return { petId, quantity, status }
    })
    this.#isUndecided = true
    return { after, outcomes, made }
  }

  accept({ after, made }: Batch): LogEnd {
    this.#isUndecided = false
    this.#end = { ...after, position: after.position + made.length }
    return this.#end
  }

  undo({ made }: Batch): void {
    this.#isUndecided = false
    for (const { place, before } of made.toReversed()) this.#stock.change(place, before, 0)
  }

  #isUpTo({ position, database }: LogEnd): boolean {
    return this.#end !== undefined && this.#end.database === database && this.#end.position >= position
  }
}
