import { expect, setDefaultTimeout, test } from 'bun:test'
import { BasketShop } from './basket-shop.ts'
import { runBaskets } from './baskets.ts'

setDefaultTimeout(240_000)

/** `BASKET_SEED=7 npx bun test server/test/faults/baskets` tries other baskets. */
const SEED = Number(Bun.env.BASKET_SEED ?? 20_261_119)
const MS = 3_000

test.each([
  ['SQLite', () => BasketShop.onSqlite()],
  ['two instances on PostgreSQL', () => BasketShop.onPostgres()],
] as const)('baskets are sold whole and never twice while %s crashes', async (_, open) => {
  const shop = await open()
  try {
    const end = performance.now() + MS
    const { counts, crashes, violations } = await runBaskets(shop, {
      seed: SEED,
      units: 40,
      crashEveryMs: [500, 1_000],
      isOver: (baskets) => performance.now() > end && baskets >= 100,
    })
    expect(violations).toEqual([])
    expect(crashes.size).toBeGreaterThan(0)
    const { receive: _, repeated: __, ...made } = counts
    for (const [what, count] of Object.entries(made)) expect([what, count > 0]).toEqual([what, true])
  } finally {
    await shop.close()
  }
})
