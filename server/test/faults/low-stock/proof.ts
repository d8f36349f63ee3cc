import { type SearchRow, searchPage } from '../../../src/core/catalog/search.ts'
import type { StockEvent } from '../../../src/core/stock/stock-event.ts'
import { openStore } from '../../../src/store/open-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { LowStockModel } from '../../support/low-stock-model.ts'
import { eventsAfter } from '../../support/oversell-check.ts'
import { historyOf } from '../../support/whole-store.ts'
import { categoryThresholds, PET_IDS } from './requests.ts'

const EVERYTHING = { order: { by: 'petId', isDescending: false } } as const

interface QuantityChange {
  readonly petId: bigint
  readonly before: number
  readonly after: number
}

/**
 * Replays all events from the beginning, and compares the result with the stock, thresholds and histories of a
 * newly opened store.
 */
export class LowStockProof {
  events = 0
  readonly #url: string
  readonly #model: LowStockModel
  readonly #changes: QuantityChange[] = []
  readonly #quantities = new Map<bigint, number>()
  #cursor: string

  constructor(url: string, cursor: string, movesCategory: boolean) {
    this.#url = url
    this.#cursor = cursor
    this.#model = new LowStockModel(categoryThresholds(movesCategory))
  }

  get crossings(): number {
    return this.#model.crossings
  }

  finish(): string[] {
    return this.#model.finish()
  }

  /** The current violations. Only the service may change anything meanwhile, by expiring holds. */
  async violations(): Promise<string[]> {
    const store = await openStore(this.#url, { tables: 'require_current_tables' })
    try {
      // Expired holds are released first, so that none expires between two reads.
      while (
        (await store.listOrders({ state: 'open' }, 1_000)).some(({ expiresAt }) => expiresAt !== undefined)
      )
        await Bun.sleep(20)
      while ((await store.petsWithExpiredHolds(1)).length > 0) await Bun.sleep(20)
      this.#play(await eventsAfter(store, this.#cursor))
      const { rows } = await searchPage(store, EVERYTHING, { limit: 1_000, cursor: undefined })
      return [...this.#unlike(rows), ...(await this.#histories(store)), ...(await store.findDamage())]
    } finally {
      await store.close()
    }
  }

  #play(events: readonly StockEvent[]): void {
    this.#cursor = events.at(-1)?.cursor ?? this.#cursor
    this.events += events.length
    for (const event of events) {
      if (event.kind === 'change') this.#note(event.petId, event.before, event.after)
      else if (event.kind === 'removed') this.#note(event.petId, this.#quantities.get(event.petId) ?? 0, 0)
      else if (event.kind === 'pet' && event.change === 'created') this.#note(event.petId, 0, event.quantity)
    }
    this.#model.play(events)
  }

  /** The differences between the stock and the replayed events: quantity, effective threshold, low or not. */
  #unlike(rows: readonly SearchRow[]): string[] {
    const told = this.#model.pets
    const found = rows.flatMap((row) => {
      const { petId, quantity, reserved, lowStockAt = null, lowSince } = row
      const pet = told.get(petId)
      const threshold = pet?.threshold === 'unknown' ? lowStockAt : pet?.threshold
      const shown = { quantity, reserved, threshold: lowStockAt, isLow: lowSince !== undefined }
      const wanted = { quantity: pet?.quantity, reserved: pet?.reserved, threshold, isLow: pet?.isLow }
      return Bun.deepEquals(shown, wanted)
        ? []
        : [`petId ${petId} has ${Bun.inspect(shown)}, its events end with ${Bun.inspect(wanted)}`]
    })
    const isSame = rows.length === told.size
    return isSame ? found : [...found, `there are ${rows.length} pets, and by the events ${told.size}`]
  }

  #note(petId: bigint, before: number, after: number): void {
    this.#quantities.set(petId, after)
    if (before !== after) this.#changes.push({ petId, before, after })
  }

  /**
   * A history has the quantities of the events, in the same order. The first events come after the removal of the pets that the
   * store had.
   */
  async #histories(store: Store): Promise<string[]> {
    const changes = Map.groupBy(this.#changes, ({ petId }) => petId)
    const found: string[] = []
    for (const petId of PET_IDS) {
      const made = (await historyOf(store, petId)).map(({ before, after }) => [before, after])
      const told = (changes.get(petId) ?? []).map(({ before, after }) => [before, after])
      const first = made.length - told.length
      if (first > 1 || !Bun.deepEquals(made.slice(Math.max(0, first)), told))
        found.push(
          `the history of petId ${petId} has ${made.length} changes, its events ${told.length}, or others`,
        )
    }
    return found
  }
}
