import { expect } from 'bun:test'
import { stateRules } from '../../src/core/orders/order.ts'
import { isLow } from '../../src/core/stock/stock-draft.ts'
import type {
  LowStockEvent,
  OrderEvent,
  PetEvent,
  QuantityEvent,
  RemovedEvent,
  StockEvent,
} from '../../src/core/stock/stock-event.ts'
import type { Store } from '../../src/store/store.ts'
import type { StoreUnderTest } from '../store/store-under-test.ts'

/** A pet according to its events. */
interface KnownPet {
  quantity: number
  reserved: number
  /** Its own, or its category's; `unknown` if that changes without an event. */
  threshold: number | null | 'unknown'
  isLow: boolean
  /** The crossing that must come next. */
  due: LowStockEvent['kind'] | undefined
  /** Part of a multi-part event has arrived: the crossing is known after the last part. */
  amid: 'completion' | 'expiry' | 'update' | undefined
}

/** The threshold of a category; `unknown` if it changes meanwhile. */
type CategoryThresholds = (categoryId: bigint) => number | null | 'unknown'

/**
 * Replays events and compares every `low` and `recovered` with the result of the others: each crossing comes
 * once, right after its cause, and there is no other.
 */
export class LowStockModel {
  readonly violations: string[] = []
  crossings = 0
  readonly #pets = new Map<bigint, KnownPet>()
  /** The units of each pet that each order reserves. */
  readonly #reserved = new Map<bigint, ReadonlyMap<bigint, number>>()
  readonly #thresholdOf: CategoryThresholds

  constructor(thresholdOf: CategoryThresholds) {
    this.#thresholdOf = thresholdOf
  }

  play(events: Iterable<StockEvent>): void {
    for (const event of events) this.#play(event)
  }

  /** The violations so far, including pets with an outstanding crossing. */
  finish(): string[] {
    for (const [petId, { due }] of this.#pets) {
      if (due !== undefined) this.violations.push(`petId ${petId} is ${due}, and no event says so`)
    }
    return this.violations
  }

  /** All pets, according to their events. */
  get pets(): ReadonlyMap<bigint, Readonly<Pick<KnownPet, 'quantity' | 'reserved' | 'threshold' | 'isLow'>>> {
    return this.#pets
  }

  /** Whether each pet is low. */
  get low(): Map<bigint, boolean> {
    return new Map(Array.from(this.#pets, ([petId, pet]) => [petId, pet.isLow]))
  }

  #play(event: StockEvent): void {
    if (event.kind === 'relist') throw new Error('nothing can be said of what was not told')
    if (event.kind === 'category') return
    if (isCrossing(event)) this.#cross(event.petId, event)
    else if (event.kind === 'order') this.#applyOrder(event)
    else this.#apply(event.petId, event)
  }

  #cross(petId: bigint, event: LowStockEvent): void {
    this.crossings++
    const { kind, quantity, reserved, lowStockAt = null } = event
    const pet = this.#pets.get(petId)
    const threshold = pet?.threshold === 'unknown' ? lowStockAt : pet?.threshold
    const isTrue = isLow({ quantity, reserved, lowStockAt }) === (kind === 'low')
    const isDue = pet?.threshold === 'unknown' ? pet.isLow !== (kind === 'low') : pet?.due === kind
    const isAsTold = quantity === pet?.quantity && reserved === pet.reserved && lowStockAt === threshold
    if (!(isTrue && isDue && isAsTold)) {
      this.violations.push(`petId ${petId}: ${Bun.inspect(event)} was told of ${Bun.inspect(pet)}`)
    }
    if (pet === undefined) return
    pet.isLow = kind === 'low'
    pet.due = undefined
    pet.amid = undefined
  }

  /** The lines of the order before and after the change. */
  #applyOrder(event: OrderEvent): void {
    const before = this.#reserved.get(event.orderId) ?? new Map<bigint, number>()
    const after = new Map(event.lines.map(({ petId, quantity }) => [petId, reservedBy(event, quantity)]))
    this.#reserved.set(event.orderId, after)
    for (const petId of new Set([...before.keys(), ...after.keys()])) {
      const pet = this.#pets.get(petId)
      if (pet === undefined) continue
      const isExpiry = event.change === 'expired'
      if (!(isExpiry && pet.amid === 'expiry')) this.#expectNoCrossing(petId, pet, event)
      pet.reserved += (after.get(petId) ?? 0) - (before.get(petId) ?? 0)
      pet.amid = isExpiry ? 'expiry' : undefined
      pet.due = dueOf(pet)
    }
    for (const { petId, reserved } of event.lines) {
      const known = this.#pets.get(petId)?.reserved
      if (reserved !== known)
        this.violations.push(`petId ${petId} has ${known} reserved units, not ${Bun.inspect(event)}`)
    }
  }

  #expectNoCrossing(petId: bigint, { due }: KnownPet, event: StockEvent): void {
    if (due === undefined) return
    this.violations.push(`petId ${petId} is ${due}, and the next event is ${Bun.inspect(event)}`)
  }

  #apply(petId: bigint, event: PetEvent | QuantityEvent | RemovedEvent): void {
    const before = this.#pets.get(petId)
    // A batch of pets sets the quantity of a pet after its other fields.
    const isUpdatedQuantity = event.kind === 'change' && event.reason === 'corrected'
    const isNextPart = isUpdatedQuantity && before?.amid === 'update'
    if (before !== undefined && !isNextPart) this.#expectNoCrossing(petId, before, event)
    if (event.kind === 'removed') {
      this.#pets.delete(petId)
      return
    }
    if (event.kind === 'pet') {
      const { quantity, lowStockAt, categoryId } = event
      const threshold = lowStockAt ?? this.#thresholdOf(categoryId)
      const fresh = { reserved: 0, isLow: false, due: undefined, amid: undefined }
      this.#pets.set(petId, { ...(before ?? fresh), quantity, threshold })
    }
    const pet = this.#pets.get(petId)
    if (pet === undefined) {
      this.violations.push(`petId ${petId} is not there: ${Bun.inspect(event)}`)
      return
    }
    pet.amid = event.kind === 'pet' ? 'update' : undefined
    if (event.kind === 'change') {
      pet.quantity = event.after
      // The event of the completed order comes next.
      if (event.reason === 'sold' && event.reference?.startsWith('order ') === true) pet.amid = 'completion'
    }
    pet.due = pet.amid === 'completion' ? undefined : dueOf(pet)
  }
}

export function isCrossing(event: StockEvent): event is LowStockEvent {
  return event.kind === 'low' || event.kind === 'recovered'
}

export function reservedBy({ state }: Pick<OrderEvent, 'state'>, quantity: number): number {
  return stateRules(state).reserves ? quantity : 0
}

function dueOf({ quantity, reserved, threshold, isLow: wasLow }: KnownPet): KnownPet['due'] {
  if (threshold === 'unknown') return undefined
  const isLowNow = isLow({ quantity, reserved, lowStockAt: threshold })
  return isLowNow === wasLow ? undefined : isLowNow ? 'low' : 'recovered'
}

interface StockRow {
  readonly pet_id: bigint
  readonly quantity: bigint
  readonly reserved: bigint
  readonly low_at: bigint | null
  readonly own: bigint | null
  readonly of_category: bigint | null
}

/** Fails unless every pet has its effective threshold. Returns whether each is low. */
export async function lowStockIsRight(
  underTest: Pick<StoreUnderTest, 'connect'>,
  store: Pick<Store, 'findDamage'>,
): Promise<Map<bigint, boolean>> {
  const connection = await underTest.connect()
  const rows = await connection.rows<StockRow>(`
    SELECT pet_id, quantity, reserved, low_at, pets.low_stock_at AS own, categories.low_stock_at AS of_category
    FROM stock LEFT JOIN pets ON pets.id = pet_id LEFT JOIN categories ON categories.id = category_id`)
  await connection.close()
  const low = new Map<bigint, boolean>()
  for (const { pet_id, low_at, own, of_category, ...row } of rows) {
    const lowStockAt = own ?? of_category
    const entry = { quantity: Number(row.quantity), reserved: Number(row.reserved) }
    expect([pet_id, low_at]).toEqual([pet_id, lowStockAt])
    low.set(pet_id, isLow({ ...entry, lowStockAt: lowStockAt === null ? null : Number(lowStockAt) }))
  }
  expect(await store.findDamage()).toEqual([])
  return low
}
