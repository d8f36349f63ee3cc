import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { barcodeOf, fits, scan, scannedPets } from '../support/scanning.ts'
import { BROWSER_TEST_MS, useShop } from '../support/shop.ts'

const shop = useShop({ pets: scannedPets(40) })
const PHONE = { width: 390, height: 844 }
/** How fast hands and scanners are, generously. */
const MS_FOR_A_KEY = 300
const MS_FOR_A_SCAN = 1_000

const finder = (page: Page) => page.getByRole('combobox', { name: 'Scan or search' })
const line = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })
const ready = async (page: Page) => {
  await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' })
  await page.getByPlaceholder('Barcode, name or id').waitFor()
}
/** How often the page has sent an adjustment. */
function adjustmentsOf(page: Page): readonly string[] {
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.headers()['idempotency-key'] ?? '')
  })
  return sent
}

test(
  'a delivery of 30 by scanner: 30 scans and amounts, one request, right while others change the same pets',
  async () => {
    const page = await shop.signedIn({ path: '/#/receive' })
    await ready(page)
    const sent = adjustmentsOf(page)
    let keys = 0
    for (let petId = 1; petId <= 30; petId++) {
      await scan(page, barcodeOf(petId))
      const amount = String(petId % 4 === 0 ? 120 : petId)
      await page.keyboard.type(amount)
      await page.keyboard.press('Enter')
      keys += amount.length + 1
      if (petId % 3 === 0) await shop.setElsewhere(BigInt(petId), 500)
    }
    const pieces = Array.from({ length: 30 }, (_, index) => ((index + 1) % 4 === 0 ? 120 : index + 1))
    const total = pieces.reduce((sum, amount) => sum + amount, 0).toLocaleString('en')
    await page.getByText(`30 pets, ${total} pieces`).waitFor()
    await axe(page)
    await page.getByRole('button', { name: 'Review' }).click()
    await axe(page)
    await page.keyboard.type('PO-1043', { delay: 60 })
    await page.keyboard.press('Enter')
    await page
      .getByRole('status')
      .getByText(`Received PO-1043: ${total} pieces of 30 pets are in stock now.`)
      .waitFor()
    expect(sent).toHaveLength(1)
    for (const [index, amount] of pieces.entries()) {
      const petId = BigInt(index + 1)
      expect([petId, await shop.inStock(petId)]).toEqual([petId, (petId % 3n === 0n ? 500 : 10) + amount])
    }
    const { json } = await shop.service.call('GET', '/inventory/30/history')
    expect(json).toMatchObject([{ before: 500, after: 530, reason: 'received', reference: 'PO-1043' }, {}])
    // The review takes a click or a Tab, the reference and an Enter.
    expect(30 * MS_FOR_A_SCAN + (keys + 10) * MS_FOR_A_KEY).toBeLessThan(60_000 + MS_FOR_A_KEY)
  },
  2 * BROWSER_TEST_MS,
)

test(
  'an unknown barcode says so and goes on, a scan over the amount takes it, and all of it survives a reload',
  async () => {
    const page = await shop.signedIn({ path: '/#/receive' })
    await ready(page)
    await scan(page, '9999999999994')
    await page.getByText('No pet has the barcode 9999999999994. Search for it by name').waitFor()
    await scan(page, barcodeOf(31))
    await page.getByLabel('How many Pet number 31 have come').waitFor()
    // Two at once, without a word on how many: one each.
    await scan(page, barcodeOf(31))
    await scan(page, barcodeOf(32))
    await page.keyboard.type('0')
    await page.keyboard.press('Enter')
    await page.getByText('Enter a whole number of 1 or more.').waitFor()
    await page.keyboard.press('Backspace')
    await page.keyboard.type('4')
    await page.keyboard.press('Enter')
    // By name, with the arrows.
    await page.keyboard.type('number 3', { delay: 60 })
    await page.getByRole('option', { name: /^Pet number 13/ }).waitFor()
    await axe(page)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByLabel('How many Pet number 13 have come').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('3 pets, 7 pieces').waitFor()
    await line(page, 'Pet number 13').getByRole('button', { name: 'Take out' }).click()
    await page.getByText('2 pets, 6 pieces').waitFor()
    await page.locator('body :focus').waitFor()
    await page.getByRole('textbox', { name: 'How many Pet number 32' }).fill('5')
    await page.keyboard.press('Enter')
    await page.getByText('2 pets, 7 pieces').waitFor()

    await page.reload()
    await page.getByText('2 pets, 7 pieces').waitFor()
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain(shop.service.key)
    // What is typed while nothing has the focus is for the field, too.
    await page.evaluate(() => (document.activeElement as HTMLElement).blur())
    await scan(page, barcodeOf(33))
    await page.getByLabel('How many Pet number 33 have come').waitFor()
    await page.keyboard.press('Escape')

    // The answer never comes, and the page is loaded anew: it was received, and is not received again.
    const sent = adjustmentsOf(page)
    const arrived = Promise.withResolvers<void>()
    await page.route('**/inventory/adjustments', async (route) => {
      if (sent.length > 1) return route.continue()
      await route.fetch()
      arrived.resolve()
    })
    await page.getByRole('button', { name: 'Review' }).click()
    await page.getByRole('button', { name: 'Receive 7 pieces of 2 pets' }).click()
    await arrived.promise
    await page.reload()
    await page.getByText('This delivery was sent, and no answer has come.').waitFor()
    await axe(page)
    await page.getByRole('button', { name: 'Ask again' }).click()
    await page.getByText('Received: 7 pieces of 2 pets are in stock now.').waitFor()
    expect([sent.length, new Set(sent).size]).toEqual([2, 1])
    expect([await shop.inStock(31n), await shop.inStock(32n)]).toEqual([12, 15])
    await scan(page, barcodeOf(34))
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Review' }).click()
    await page.keyboard.press('Enter')
    await page.getByText('Received: 1 piece of 1 pet is in stock now.').waitFor()
  },
  2 * BROWSER_TEST_MS,
)

test(
  'on a phone it fits, in the dark as well; a key that may not change the stock is not offered it',
  async () => {
    const page = await shop.signedIn({ path: '/#/receive', viewport: PHONE, colorScheme: 'dark' })
    await ready(page)
    await finder(page).fill('number 36')
    await page.getByRole('option', { name: /^Pet number 36/ }).click()
    await page.getByLabel('How many Pet number 36 have come').fill('9007199254740990')
    await page.getByRole('button', { name: 'Add' }).click()
    await scan(page, barcodeOf(37))
    expect(await fits(page)).toBe(true)
    await axe(page)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Review' }).click()
    await page.getByText('Unusually many').waitFor()
    const book = await page.getByRole('button', { name: /^Receive / }).boundingBox()
    expect(book?.width).toBeGreaterThan(PHONE.width / 2)
    expect(await fits(page)).toBe(true)
    await axe(page)
    // All of it or nothing: it would be more than there can be.
    const { secret } = await shop.service.createKey('enterprise', { permissions: ['orders'] })
    const other = await shop.signedIn({ path: '/#/receive', key: secret })
    await other.getByText('This key may not change the stock').waitFor()
    expect(await other.getByRole('link', { name: /^(Receive|Count)$/ }).count()).toBe(0)
  },
  2 * BROWSER_TEST_MS,
)
