import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { StockEvent } from '../../src/core/stock/stock-event.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { change } from '../store/plain-rows.ts'
import { createDatabase } from '../support/postgres-databases.ts'
import { historyOf } from '../support/whole-store.ts'
import { PET_IDS, stockUp } from './shop.ts'

setDefaultTimeout(120_000)

/** Reads from the cursor, a few at a time, until the expected number of changes has arrived. */
async function follow(store: Store, cursor: string, changes: () => number): Promise<StockEvent[]> {
  const events: StockEvent[] = []
  while (events.length < changes()) {
    const found = await store.eventsAfter(cursor, 7)
    if (typeof found === 'string') throw new Error(found)
    events.push(...found.events)
    cursor = found.cursor
  }
  return events
}

describe('events of two instances that write concurrently', () => {
  test('reach every reader once, in one order, which for each pet is that of its changes', async () => {
    const database = await createDatabase()
    await stockUp(database.url)
    const stores = await Promise.all([
      openStore(database.url, { tables: 'migrate' }),
      openStore(database.url, { tables: 'migrate' }),
    ])
    const [one, other] = stores as [Store, Store]
    const start = await one.latestEventCursor()
    let expected = Number.POSITIVE_INFINITY
    const readers = [one, other, one].map((store) => follow(store, start, () => expected))

    let value = 0
    const writer = async (store: Store) => {
      for (let round = 0; round < 100; round++) {
        const petIds = PET_IDS.filter(() => Math.random() < 0.5).toSorted(() => Math.random() - 0.5)
        await store.changeStock(petIds.map((petId) => change(BigInt(petId), ++value, { at: value })))
      }
    }
    await Promise.all([one, other, one, other].map(writer))
    expected = value
    const [first, second, third] = await Promise.all(readers)
    expect(first).toHaveLength(value)
    expect(second).toEqual(first as StockEvent[])
    expect(third).toEqual(first as StockEvent[])
    for (const petId of PET_IDS) {
      const told = (first ?? []).flatMap((event) =>
        event.kind === 'change' && event.petId === BigInt(petId) ? [event.after] : [],
      )
      expect(told).toEqual((await historyOf(one, BigInt(petId))).map(({ after }) => after))
    }
    for (const store of stores) await store.close()
    await database.drop()
  })
})
