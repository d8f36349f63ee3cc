import type { OrderOutcome, StockRequest } from '../../src/core/stock/stock-request.ts'

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
  first(): StockRequest[] {
    return PET_IDS.map((id) => this.#creation(id))
  }

  /** Adds an order that can be completed or cancelled from now on. */
  opened({ id, petId }: Pick<Extract<OrderOutcome, { order: object }>['order'], 'id' | 'petId'>): void {
    this.#open.set(id, petId)
  }

  next(): StockRequest {
    const random = this.#random
    const petId = PET_IDS[this.#upTo(PET_IDS.length - 1)] ?? 1n
    const kind = random() * 100
    if (kind < 30) return { ...BY, petId, quantity: this.#upTo(MAX_UNITS) }
    if (kind < 45) {
      const second = PET_IDS.find((id) => id !== petId) ?? petId
      return { ...BY, changes: [petId, second].map((id) => ({ petId: id, delta: random() < 0.5 ? -1 : 2 })) }
    }
    if (kind < 55) return { ...BY, draft: { petId, quantity: 1 + this.#upTo(2) } }
    if (kind < 63) return { ...BY, draft: { petId, quantity: 1 + this.#upTo(2), holdSeconds: 1 } }
    if (kind < 80) {
      const [order] = this.#open
      if (order === undefined) return { ...BY, petId, quantity: MAX_UNITS }
      this.#open.delete(order[0])
      return { ...BY, orderId: order[0], petId: order[1], update: random() < 0.5 ? 'complete' : 'cancel' }
    }
    if (kind < 88)
      return { ...BY, petId, petPatch: { lowStockAt: random() < 0.4 ? null : this.#upTo(MAX_UNITS) } }
    if (kind < 92) return { ...BY, petId, petPatch: { categoryId: this.#category() } }
    if (kind < 94) return { ...BY, removedPet: petId }
    if (kind < 97) return this.#creation(petId)
    if (!this.#movesCategory) return { ...BY, holdsOf: [petId] }
    const lowStockAt = random() < 0.3 ? null : this.#upTo(MAX_UNITS)
    return { ...BY, categoryId: CATEGORY, categoryPatch: { lowStockAt } }
  }

  #creation(id: bigint): StockRequest {
    const own = this.#random() < 0.5 ? { lowStockAt: this.#upTo(MAX_UNITS) } : {}
    const pet = {
      id,
      name: `Pet ${id}`,
      status: 'available',
      quantity: this.#upTo(MAX_UNITS),
      ...own,
    } as const
    return { ...BY, newPet: { ...pet, categoryId: this.#category() } }
  }

  #category(): bigint {
    return this.#random() < 0.5 ? PLAIN_CATEGORY : CATEGORY
  }

  #upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1))
  }
}

/** The categories as they are at the beginning. */
export function categoryRequest(id: bigint): StockRequest {
  const threshold = id === CATEGORY ? { lowStockAt: THRESHOLD } : {}
  return { ...BY, newCategory: { id, name: `Category ${id}`, ...threshold } }
}

/** The knowledge of category thresholds of a reader that only gets events of pets. */
export function categoryThresholds(movesCategory: boolean) {
  return (categoryId: bigint): number | null | 'unknown' => {
    if (categoryId === PLAIN_CATEGORY) return null
    return movesCategory ? 'unknown' : THRESHOLD
  }
}
