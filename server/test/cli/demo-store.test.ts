import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { toStoredSecret } from '../../src/core/keys/api-key.ts'
import { DAY } from '../../src/core/values/clock.ts'
import { prepareDemo } from '../../src/service/demo.ts'
import { openStore } from '../../src/store/open-store.ts'
import { operatorOf } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('the demo store has named categories, valid barcodes, open orders, sales, and a few low pets', async () => {
  const folder = temporaryFolder()
  const store = await openStore(`sqlite:${join(folder, 'demo.db')}`, { tables: 'migrate' })
  try {
    const cursor = await store.latestEventCursor()
    await prepareDemo(store, Date.now())

    expect((await store.listCategories(undefined, 10)).map(({ name }) => name)).toEqual([
      ...['Dogs', 'Cats', 'Birds', 'Fish', 'Small animals'],
    ])
    const barcodes = (await store.listPets(undefined, 100)).map(({ barcode = '' }) => barcode)
    expect(new Set(barcodes).size).toBe(25)
    expect(barcodes.filter((barcode) => !isEan13(barcode))).toEqual([])
    expect(await store.listOrders({ state: 'open' }, 100)).toHaveLength(12)

    const sales = await store.listRecentHistory(1_000, undefined, { reason: 'sold' })
    const days = new Set(sales.rows.map(({ at }) => Math.floor(at / DAY)))
    expect(days.size).toBeGreaterThanOrEqual(14)
    const neonTetra = await store.listHistoryPage(16n, 1, undefined)
    expect(neonTetra).toMatchObject({ rows: [{ before: 255, after: 240 }] })

    const delivered = await store.eventsAfter(cursor, 1_000)
    if (typeof delivered === 'string') throw new Error(delivered)
    const low = new Set<bigint>()
    for (const event of delivered.events) {
      if (event.kind === 'low') low.add(event.petId)
      if (event.kind === 'recovered') low.delete(event.petId)
    }
    expect([...low].sort((one, other) => Number(one - other))).toEqual([2n, 12n, 18n, 20n, 24n, 25n])
    expect(await store.findDamage()).toEqual([])

    // A rotation deletes the public secret of a key, but the store stays a demo.
    const stamp = { at: Date.now(), actor: 'test' }
    await operatorOf(store).rotateKey('key_demo_free', toStoredSecret('pst_live_other', Date.now()), 0, stamp)
    await prepareDemo(store, Date.now())
    expect(await store.countPets()).toBe(25)
  } finally {
    await store.close()
  }
})

/** The GS1 checksum: from the right, every second digit counts three times, and the sum is a multiple of ten. */
function isEan13(text: string): boolean {
  const sum = [...text]
    .reverse()
    .reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0)
  return /^\d{13}$/.test(text) && sum % 10 === 0
}
