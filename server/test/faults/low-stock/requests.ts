import type { Order } from '../../../src/core/orders/order.ts'
import type { Command } from '../../../src/core/stock/command.ts'

/** Few pets, with thresholds close to the quantities, so that almost everything crosses. */
export const PET_IDS = Array.from({ length: 10 }, (_, index) => BigInt(index + 1))
/** Has no threshold; that of the other category is fixed, or changes as well. */
export const PLAIN_CATEGORY = 1n
export const CATEGORY = 2n
export const THRESHOLD = 4
const MAX_UNITS = 9
const BY = { keyId: 'key_a', at: 1_790_000_000_000 }

/** Random changes around thresholds. */
export class ThresholdRequests {
  readonly #random: () => number
  readonly #movesCategory: boolean
  /** The pets of open orders. */
  readonly #open = new Map<bigint, bigint>()

  constructor(random: () => number, movesCategory: boolean) {
    this.#random = random
    this.#movesCategory = movesCategory
  }

  /** The requests that create everything the others need. */
  first(): Command[] {
    return PET_IDS.map((id) => this.#creation(id))
  }

  /** Adds an order that can be completed or cancelled from now on. */
  opened({ id, petId }: Pick<Order, 'id' | 'petId'>): void {
    this.#open.set(id, petId)
  }

  next(): Command {
    const random = this.#random
    const petId = PET_IDS[this.#upTo(PET_IDS.length - 1)] ?? 1n
    const kind = random() * 100
    if (kind < 30) return { type: 'adjust', ...BY, changes: [{ petId, quantity: this.#upTo(MAX_UNITS) }] }
    if (kind < 45) {
      const second = PET_IDS.find((id) => id !== petId) ?? petId
      return {
        type: 'adjust',
        ...BY,
        changes: [petId, second].map((id) => ({ petId: id, delta: random() < 0.5 ? -1 : 2 })),
      }
    }
    if (kind < 55) return { type: 'create_order', ...BY, order: { petId, quantity: 1 + this.#upTo(2) } }
    if (kind < 63)
      return { type: 'create_order', ...BY, order: { petId, quantity: 1 + this.#upTo(2), holdSeconds: 1 } }
    if (kind < 80) {
      const [order] = this.#open
      if (order === undefined) return { type: 'adjust', ...BY, changes: [{ petId, quantity: MAX_UNITS }] }
      this.#open.delete(order[0])
      const type = random() < 0.5 ? 'complete_order' : 'cancel_order'
      return { type, ...BY, orderId: order[0], petId: order[1] }
    }
    if (kind < 88)
      return {
        type: 'update_pet',
        ...BY,
        petId,
        patch: { lowStockAt: random() < 0.4 ? null : this.#upTo(MAX_UNITS) },
      }
    if (kind < 92) return { type: 'update_pet', ...BY, petId, patch: { categoryId: this.#category() } }
    if (kind < 94) return { type: 'remove_pet', ...BY, petId: petId }
    if (kind < 97) return this.#creation(petId)
    if (!this.#movesCategory) return { type: 'release_holds', ...BY, petIds: [petId] }
    const lowStockAt = random() < 0.3 ? null : this.#upTo(MAX_UNITS)
    return { type: 'update_category', ...BY, categoryId: CATEGORY, patch: { lowStockAt } }
  }

  #creation(id: bigint): Command {
    const own = this.#random() < 0.5 ? { lowStockAt: this.#upTo(MAX_UNITS) } : {}
    const pet = {
      id,
      name: `Pet ${id}`,
      status: 'available',
      quantity: this.#upTo(MAX_UNITS),
      ...own,
    } as const
    return { type: 'create_pet', ...BY, pet: { ...pet, categoryId: this.#category() } }
  }

  #category(): bigint {
    return this.#random() < 0.5 ? PLAIN_CATEGORY : CATEGORY
  }

  #upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1))
  }
}

/** The categories as they are at the beginning. */
export function categoryRequest(id: bigint): Command {
  const threshold = id === CATEGORY ? { lowStockAt: THRESHOLD } : {}
  return { type: 'create_category', ...BY, category: { id, name: `Category ${id}`, ...threshold } }
}

/** The knowledge of category thresholds of a reader that only gets events of pets. */
export function categoryThresholds(movesCategory: boolean) {
  return (categoryId: bigint): number | null | 'unknown' => {
    if (categoryId === PLAIN_CATEGORY) return null
    return movesCategory ? 'unknown' : THRESHOLD
  }
}
