import { expect, setDefaultTimeout, test } from 'bun:test'
import { BasketShop } from './basket-shop.ts'
import { runBaskets } from './baskets.ts'

setDefaultTimeout(240_000)

/** `BASKET_SEED=7 npx bun test server/test/faults/baskets` tries other baskets. */
const SEED = Number(Bun.env.BASKET_SEED ?? 20_261_119)
const MS = 3_000
/** Of each kind of request. */
const LEAST = 1

test.each([
  ['one instance with SQLite', () => BasketShop.onSqlite()],
  ['two instances on PostgreSQL', () => BasketShop.onPostgres()],
] as const)('with %s, baskets are sold whole and once despite crashes', async (_, open) => {
  const shop = await open()
  try {
    const end = performance.now() + MS
    const { counts, crashes, violations } = await runBaskets(shop, {
      seed: SEED,
      units: 40,
      crashEvery: [100, 200],
      isOver: (made) => performance.now() > end && Object.values(made).every((count) => count >= LEAST),
    })
    expect(violations).toEqual([])
    expect(crashes.size).toBeGreaterThan(0)
    expect(counts.expired).toBeGreaterThan(0)
  } finally {
    await shop.close()
  }
})
