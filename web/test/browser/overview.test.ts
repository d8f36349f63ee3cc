import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { StockedPet } from '../../../server/src/core/catalog/pet.ts'
import type { InventoryItem } from '../../../server/src/core/stock/inventory.ts'
import { stockOf } from '../../../server/test/support/whole-store.ts'
import { BROWSER_TEST_MS, JSON_HEADERS, signIn, useShop } from '../support/shop.ts'

const STATUSES = ['available', 'pending', 'sold'] as const
const PETS: readonly StockedPet[] = Array.from({ length: 60 }, (_, index) => ({
  id: BigInt(index + 1),
  name: `Pet no. ${index + 1}`,
  categoryId: 1n,
  status: STATUSES[index % 5 === 4 ? 2 : index % 3 === 2 ? 1 : 0] ?? 'available',
  quantity: index < 4 ? index : 10 + index * 7,
}))

const shop = useShop({ pets: PETS })

const tile = (page: Page, name: string) => page.locator('.tile', { hasText: name })
const lowRows = (page: Page) => page.getByRole('list', { name: 'Low stock' }).getByRole('listitem')
const recentRows = (page: Page) => page.getByRole('list', { name: 'Recent changes' }).getByRole('listitem')

async function set(petId: bigint, quantity: number, key = shop.service.key): Promise<void> {
  const { status } = await shop.service.setQuantity(petId, JSON.stringify({ quantity }), { key })
  expect(status).toBe(200)
}

function tileText(items: readonly InventoryItem[]): RegExp {
  const units = items.reduce((sum, { quantity }) => sum + quantity, 0).toLocaleString('en')
  return new RegExp(`\\s${units}\\s+units of ${items.length} pets$`)
}

test(
  'units and pets are those of the store, in all and in each status, and follow its changes',
  async () => {
    const page = await shop.signedIn({ path: '/#/overview' })
    await tile(page, 'All units')
      .getByText(/units of/)
      .waitFor()
    const stored = await stockOf(shop.service.store)
    expect(stored).toHaveLength(60)
    expect(await tile(page, 'All units').innerText()).toMatch(tileText(stored))
    for (const status of STATUSES) {
      const expected = tileText(stored.filter((item) => item.status === status))
      expect(await tile(page, status.charAt(0).toUpperCase() + status.slice(1)).innerText()).toMatch(expected)
    }
    const before = await tile(page, 'Available').innerText()
    await set(58n, 100_000)
    await page.waitForFunction((text) => !document.body.innerText.includes(text), before)
    expect(await tile(page, 'All units').innerText()).toMatch(tileText(await stockOf(shop.service.store)))
    expect(
      await page.getByRole('list', { name: 'Largest stock' }).getByRole('listitem').first().innerText(),
    ).toMatch(/^Pet no\. 58\s+100,000\s+units$/)
  },
  BROWSER_TEST_MS,
)

test(
  'the low-stock list goes by the thresholds, as they and what is available change, and leads to the pets',
  async () => {
    const page = await shop.signedIn({ path: '/#/overview' })
    await page.getByText('Nothing is low.').waitFor()
    await shop.setLowStockAt('categories/1', 1)
    await page.getByText('2 pets are low, 1 of them with nothing left.').waitFor()
    expect(await lowRows(page).allInnerTexts()).toEqual([
      expect.stringMatching(/^Pet no\. 1\s+available\s+0$/),
      expect.stringMatching(/^Pet no\. 2\s+available\s+1$/),
    ])
    // What is reserved cannot be sold any more.
    const body = '{"petId": 4, "quantity": 3}'
    const ordered = await shop.service.call('POST', '/store/orders', { body, headers: JSON_HEADERS })
    expect(ordered.status).toBe(201)
    await page.getByText('3 pets are low, 2 of them with nothing left.').waitFor()
    expect((await lowRows(page).allInnerTexts())[1]).toMatch(/^Pet no\. 4\s+available\s+0$/)
    await shop.setLowStockAt('pets/60', 1_000)
    await page.getByText('4 pets are low, 2 of them with nothing left.').waitFor()
    await shop.setLowStockAt('categories/1', 80)
    await page.getByRole('link', { name: 'Show all 12' }).click()
    await page.getByText('12 pets are low, 2 of them with nothing left.').waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Pet no. 1', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Pet no. 1' }).waitFor()
  },
  BROWSER_TEST_MS,
)

test(
  'recent changes are listed newest first with who made them, and new ones appear as they happen',
  async () => {
    const { secret } = await shop.service.createKey('enterprise', { name: 'Stockroom' })
    await set(50n, 1_000, secret)
    const page = await shop.signedIn({ path: '/#/overview' })
    await recentRows(page).filter({ hasText: 'Pet no. 50' }).waitFor()
    expect(await recentRows(page).first().innerText()).toMatch(
      /^Pet no\. 50\s.*\s1,000\s.*just now · Stockroom$/s,
    )
    const { secret: other } = await shop.service.createKey('enterprise', { name: 'Online shop' })
    await set(51n, 999, other)
    await recentRows(page).filter({ hasText: 'Online shop' }).waitFor()
    expect(await recentRows(page).first().innerText()).toMatch(
      /^Pet no\. 51\s.*\s999\s.*just now · Online shop$/s,
    )
  },
  BROWSER_TEST_MS,
)

test(
  'the meter shows what the key has used and left, whoever used it, and asks for it once',
  async () => {
    await set(60n, 500)
    const { secret } = await shop.service.createKey('free')
    const page = await shop.page()
    let asked = 0
    let left = 60
    page.on('response', (response) => {
      if (new URL(response.url()).pathname === '/v1/limits') asked++
      left = Math.min(left, Number(response.headers()['x-ratelimit-remaining'] ?? 60))
    })
    const minute = page.locator('.limit-meter', { hasText: 'This minute' })
    const day = page.locator('.limit-meter', { hasText: 'This day' })
    // How many requests the page needs depends on how quick the machine is: the service counts them.
    const showsWhatIsLeft = async () => {
      const end = Date.now() + 30_000
      const expected = () =>
        new RegExp(
          `\\b${left} left\\s+${60 - left} of 60 used · resets in \\d+ s.*\\b${60 - left} of 1,000 used`,
          's',
        )
      const shown = async () => (await minute.innerText()) + (await day.innerText())
      while (Date.now() < end && !expected().test(await shown())) await Bun.sleep(50)
      expect(await shown()).toMatch(expected())
    }
    await signIn(page, secret)
    await page.getByRole('link', { name: 'Overview' }).click()
    await recentRows(page).first().waitFor()
    await showsWhatIsLeft()
    // Once to sign in, and once for the meter.
    expect(asked).toBe(2)

    const before = left
    for (let count = 0; count < 20; count++) await shop.service.call('GET', '/inventory/1', { key: secret })
    // A pet of a category that is not known lets the page ask for the categories.
    const naming = page.waitForResponse(/\/v1\/categories/)
    await shop.service.store.addPets([
      { ...PETS[0], id: 61n, name: 'New one', categoryId: 61n } as StockedPet,
    ])
    await naming
    await showsWhatIsLeft()
    expect(left).toBeLessThan(before - 20)
    expect(asked).toBe(2)
  },
  BROWSER_TEST_MS,
)
