import type { Order, OrderChange } from '../orders/order.ts'
import { type EntryState, type InventoryItem, MAX_QUANTITY } from './inventory.ts'
import type { ChangeOrigin } from './stock-request.ts'

/** What is written to the log, in the order in which it was decided. */
export type Made = MadeChange | MadeOrder

/** A change of a quantity that is made: it is written to the stock as well. */
export interface MadeChange {
  readonly petId: bigint
  readonly before: number
  readonly after: number
  readonly status: EntryState['status']
  readonly by: ChangeOrigin
  /** Its index among all that is made. */
  readonly index: number
  /** The index of the pet's change before this one; null where it is the first. */
  readonly follows: number | null
  /** Whether it is the pet's last one: what the stock then is. */
  isLast: boolean
}

/** What happened to an order, which is as it is right after that. */
export interface MadeOrder {
  readonly order: Order
  readonly change: OrderChange
  readonly by: ChangeOrigin
}

export function isQuantityChange(made: Made): made is MadeChange {
  return !('order' in made)
}

/** The entries as the changes so far have left them. */
export class ChangingStock {
  readonly made: Made[] = []
  readonly #found: ReadonlyMap<bigint, EntryState>
  readonly #latest = new Map<bigint, MadeChange>()

  constructor(found: ReadonlyMap<bigint, EntryState>) {
    this.#found = found
  }

  find(petId: bigint): InventoryItem | undefined {
    const entry = this.#found.get(petId)
    if (entry === undefined) return undefined
    const { status } = entry
    return { petId, quantity: this.#latest.get(petId)?.after ?? entry.quantity, status }
  }

  set({ petId, quantity, status }: InventoryItem, after: number, by: ChangeOrigin): InventoryItem {
    if (!isQuantity(after)) throw new RangeError(`${after} is no quantity`)
    if (after !== quantity) {
      const earlier = this.#latest.get(petId)
      if (earlier !== undefined) {
        if (earlier.by === by) throw new RangeError(`petId ${petId} is there twice in one request`)
        earlier.isLast = false
      }
      const [index, follows] = [this.made.length, earlier?.index ?? null]
      const change = { petId, before: quantity, after, status, by, index, follows, isLast: true }
      this.#latest.set(petId, change)
      this.made.push(change)
    }
    return { petId, quantity: after, status }
  }
}

/** Callers are told long before: what comes so far without being one is a bug. */
function isQuantity(quantity: number): boolean {
  return Number.isInteger(quantity) && quantity >= 0 && quantity <= MAX_QUANTITY
}
