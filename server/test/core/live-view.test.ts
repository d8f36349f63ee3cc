import { describe, expect, test } from 'bun:test'
import type { InventoryItem, StockChanges } from '../../src/core/stock/inventory.ts'
import type { InventorySnapshot } from '../../src/core/stock/view/inventory-pages.ts'
import { LiveView } from '../../src/core/stock/view/live-view.ts'
import { someTurns } from '../support/turns.ts'

const item = (petId: bigint, quantity: number): InventoryItem => ({ petId, quantity, status: 'available' })
const quantitiesIn = ({ parts }: InventorySnapshot): number[] =>
  (JSON.parse(Buffer.concat(parts).toString()) as { quantity: number }[]).map(({ quantity }) => quantity)

/** A store without a version, whose reads resolve when the test says so. */
class AskedStore {
  stock = new Map<bigint, InventoryItem>([[1n, item(1n, 0)]])
  loads = 0
  readonly rounds: (() => Promise<void>)[] = []
  tooMany = false
  versionNumber = 1
  readonly knowsVersion: boolean

  constructor(knowsVersion = false) {
    this.knowsVersion = knowsVersion
  }

  version(): number | undefined {
    return this.knowsVersion ? this.versionNumber : undefined
  }

  async loadStock(onBatch: (items: readonly InventoryItem[]) => void): Promise<string> {
    this.loads++
    onBatch([...this.stock.values()])
    return 'cursor'
  }

  stockChangesSince(): Promise<StockChanges | 'reload'> {
    // Reads when the round begins and resolves later, so changes in between are missing.
    const changes: StockChanges = { updated: [...this.stock.values()], removed: [], cursor: 'cursor' }
    const answer = this.tooMany ? 'reload' : changes
    const { promise, resolve } = Promise.withResolvers<StockChanges | 'reload'>()
    this.rounds.push(async () => {
      resolve(answer)
      await someTurns()
    })
    return promise
  }
}

describe('the live view', () => {
  test('readers that arrive together share one round', async () => {
    const store = new AskedStore()
    const view = await LiveView.open(store)
    const readers = Promise.all([view.current(), view.current(), view.current()])
    await someTurns()
    expect(store.rounds).toHaveLength(1)
    await store.rounds[0]?.()
    await readers
  })

  test('a reader does not join a round that began before it arrived', async () => {
    const store = new AskedStore()
    const view = await LiveView.open(store)
    const early = view.current()
    await someTurns()
    store.stock.set(1n, item(1n, 42))
    const late = view.current()
    await store.rounds[0]?.()
    expect(quantitiesIn(await early)).toEqual([0])
    await store.rounds[1]?.()
    expect(quantitiesIn(await late)).toEqual([42])
    expect(store.rounds).toHaveLength(2)
  })

  test('if the store has a version, nothing is read until the version changes', async () => {
    const store = new AskedStore(true)
    const view = await LiveView.open(store)
    expect(view.current()).not.toBeInstanceOf(Promise)
    expect(view.current()).toBe(view.current())
    store.stock.set(1n, item(1n, 7))
    store.versionNumber++
    const changed = view.current()
    expect(changed).toBeInstanceOf(Promise)
    await someTurns()
    await store.rounds[0]?.()
    expect(quantitiesIn(await changed)).toEqual([7])
    expect(view.current()).not.toBeInstanceOf(Promise)
  })

  test('after too many changes it loads the whole list again', async () => {
    const store = new AskedStore()
    const view = await LiveView.open(store)
    store.tooMany = true
    store.stock.set(2n, item(2n, 5))
    const reader = view.current()
    await someTurns()
    await store.rounds[0]?.()
    expect(quantitiesIn(await reader)).toEqual([0, 5])
    expect(store.loads).toBe(2)
  })

  test('a failed round rejects its readers, and the next round works', async () => {
    const store = new AskedStore()
    const view = await LiveView.open(store)
    const original = store.stockChangesSince.bind(store)
    store.stockChangesSince = () => Promise.reject(new Error('away'))
    expect(await Promise.resolve(view.current()).catch(String)).toContain('away')
    store.stockChangesSince = original
    const reader = view.current()
    await someTurns()
    await store.rounds[0]?.()
    expect(quantitiesIn(await reader)).toEqual([0])
  })

  test('if loading the whole list fails, the next reader loads it', async () => {
    const store = new AskedStore(true)
    const view = await LiveView.open(store)
    const original = store.loadStock.bind(store)
    store.tooMany = true
    store.loadStock = () => Promise.reject(new Error('away'))
    store.versionNumber++
    const failing = Promise.resolve(view.current()).catch(String)
    await someTurns()
    await store.rounds[0]?.()
    expect(await failing).toContain('away')
    store.loadStock = original
    // Even if the store has the same version as when the list was released.
    store.versionNumber--
    store.stock.set(1n, item(1n, 9))
    expect(quantitiesIn(await view.current())).toEqual([9])
    expect(store.rounds).toHaveLength(1)
  })
})
