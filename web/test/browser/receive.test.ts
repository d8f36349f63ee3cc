import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { fits, PHONE } from '../support/layout.ts'
import { barcodeOf, scannedPets } from '../support/pets.ts'
import { reloadKept } from '../support/reload-kept.ts'
import { scan, typeBarcode } from '../support/scanning.ts'
import { useShop } from '../support/shop.ts'

const shop = useShop({ pets: scannedPets(40) })

const finder = (page: Page) => page.getByRole('combobox', { name: 'Scan or search' })
const line = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })
const ready = async (page: Page) => {
  await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' })
  await page.getByPlaceholder('Barcode, name or id').waitFor()
}
/** The idempotency keys of the adjustments that the page sends. */
function adjustmentsOf(page: Page): readonly string[] {
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.headers()['idempotency-key'] ?? '')
  })
  return sent
}

test('a delivery by scanner: scans and amounts, one request, right while others change the same pets', async () => {
  const page = await shop.signedIn({ path: '/#/receive' })
  await ready(page)
  const sent = adjustmentsOf(page)
  for (const [petId, amount] of [1, 120, 3, 4, 5].entries()) {
    await scan(page, barcodeOf(petId + 1))
    await page.keyboard.type(String(amount))
    await page.keyboard.press('Enter')
  }
  await shop.setElsewhere(2n, 500)
  await page.getByText('5 pets, 133 pieces').waitFor()
  await page.getByRole('button', { name: 'Review' }).click()
  await page.keyboard.type('PO-1043', { delay: 60 })
  await page.keyboard.press('Enter')
  await page
    .getByRole('status')
    .getByText('Received PO-1043: 133 pieces of 5 pets are in stock now.')
    .waitFor()
  expect(sent).toHaveLength(1)
  expect(await Promise.all([1n, 2n, 3n, 4n, 5n].map(shop.inStock))).toEqual([11, 620, 13, 14, 15])
})

test('by name, by slow scans, with corrections, across a reload, and booked once although the response was lost', async () => {
  const page = await shop.signedIn({ path: '/#/receive' })
  await ready(page)
  await typeBarcode(page, barcodeOf(31))
  await page.getByLabel('How many Pet number 31 have arrived').waitFor()
  // A scan without an amount is one piece. A slow scan into the amount is not the amount.
  await scan(page, barcodeOf(31))
  await typeBarcode(page, barcodeOf(32))
  await page.getByLabel('How many Pet number 32 have arrived').waitFor()
  await page.getByText('2 pets, 3 pieces').waitFor()
  await page.keyboard.type('0')
  await page.getByText('1 pet, 2 pieces').waitFor()
  await page.keyboard.type('.')
  await page.keyboard.press('Enter')
  await page.getByText('Enter a whole number.').waitFor()
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('4')
  await page.keyboard.press('Enter')
  // By name, with the arrows.
  await page.keyboard.type('number 13', { delay: 60 })
  await page.getByRole('option', { name: /^Pet number 13 / }).waitFor()
  await axe(page)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByLabel('How many Pet number 13 have arrived').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('3 pets, 7 pieces').waitFor()
  await line(page, 'Pet number 13').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('2 pets, 6 pieces').waitFor()
  await page.locator('body :focus').waitFor()
  await page.getByRole('textbox', { name: 'How many Pet number 32' }).fill('5')
  await page.keyboard.press('Enter')
  await page.getByText('2 pets, 7 pieces').waitFor()

  await reloadKept(page)
  await page.getByText('2 pets, 7 pieces').waitFor()
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain(shop.service.key)
  // Without a focus, keys go into the finder.
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await scan(page, barcodeOf(33))
  await page.getByLabel('How many Pet number 33 have arrived').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('2 pets, 7 pieces').waitFor()

  // The response is lost and the page is reloaded: the delivery was booked, and is not booked again.
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
  await reloadKept(page)
  await page.getByText('Delivery is booked.').waitFor()
  expect([sent.length, new Set(sent).size]).toEqual([2, 1])
  expect([await shop.inStock(31n), await shop.inStock(32n)]).toEqual([12, 15])
})

test('on a phone it fits, in the dark as well; a key that may not change the stock is not offered it', async () => {
  const page = await shop.signedIn({ path: '/#/receive', viewport: PHONE, colorScheme: 'dark' })
  await ready(page)
  await finder(page).fill('number 36')
  await page.getByRole('option', { name: /^Pet number 36/ }).click()
  await page.getByLabel('How many Pet number 36 have arrived').fill('9007199254740981')
  await page.getByRole('button', { name: 'Next pet' }).click()
  await scan(page, barcodeOf(37))
  await fits(page)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByText('Unusually many').waitFor()
  // It always asks.
  await page.getByRole('button', { name: /^Receive / }).click()
  const question = page.getByRole('dialog', { name: 'Is this amount right?' })
  await question.getByText('Pet number 36: 9,007,199,254,740,981 pieces, with 10 in stock.').waitFor()
  await axe(page)
  await page.keyboard.press('Enter')
  await question.waitFor({ state: 'detached' })
  expect(await shop.inStock(36n)).toBe(10)
  const book = await page.getByRole('button', { name: /^Receive / }).boundingBox()
  expect(book?.width).toBeGreaterThan(PHONE.width / 2)
  await fits(page)
  await axe(page)
  const { secret } = await shop.service.createKey('enterprise', { permissions: ['orders'] })
  const other = await shop.signedIn({ path: '/#/receive', key: secret })
  await other.getByText('This key may not change the stock').waitFor()
  expect(await other.getByRole('link', { name: /^(Receive|Count)$/ }).count()).toBe(0)
})

test('no scan is lost: the last one is part of the delivery in the review, after another view and after a reload', async () => {
  const page = await shop.signedIn({ path: '/#/receive' })
  await ready(page)
  for (const petId of [21, 22, 23]) await scan(page, barcodeOf(petId))
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('button', { name: 'Receive 3 pieces of 3 pets' }).waitFor()
  await page.getByRole('button', { name: 'Back' }).click()
  await scan(page, barcodeOf(24))
  await page.keyboard.type('7')
  await page.getByRole('link', { name: 'Stock', exact: true }).click()
  await page.getByRole('table', { name: 'Stock' }).waitFor()
  await page.getByRole('link', { name: 'Receive' }).click()
  await page.getByText('4 pets, 10 pieces').waitFor()
  await scan(page, barcodeOf(25))
  await page.getByText('5 pets, 11 pieces').waitFor()
  await reloadKept(page)
  await page.getByText('5 pets, 11 pieces').waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('dialog', { name: 'Discard this delivery?' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('5 pets, 11 pieces').waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
  await page.getByText('Nothing received yet').waitFor()
  await page.getByText('This browser keeps the list until you press Review and Receive.').waitFor()
})

test('a scan in the review or in an amount is one more pet: never a reference, an amount or a booking', async () => {
  const page = await shop.signedIn({ path: '/#/receive' })
  await ready(page)
  const sent = adjustmentsOf(page)
  await scan(page, barcodeOf(26))
  await page.keyboard.type('4')
  // Into the amount, behind what a person typed.
  await scan(page, barcodeOf(27))
  await page.getByText('2 pets, 5 pieces').waitFor()
  // Into an amount of the list.
  await page.getByRole('textbox', { name: 'How many Pet number 26', exact: true }).focus()
  await scan(page, barcodeOf(27))
  await page.getByText('2 pets, 6 pieces').waitFor()
  // The amount that is being typed is part of the list.
  await page.getByText(/^#27 · \d+ in stock · 2 in the list below$/).waitFor()
  await page.getByRole('button', { name: 'Next pet' }).waitFor()
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByLabel('Reference').fill('PO-7')
  await scan(page, barcodeOf(28))
  await page.getByLabel('How many Pet number 28 have arrived').waitFor()
  await page.getByText('3 pets, 7 pieces').waitFor()
  await page.getByRole('button', { name: 'Review' }).click()
  expect(await page.getByLabel('Reference').inputValue()).toBe('PO-7')
  expect(sent).toHaveLength(0)
  await page.getByRole('button', { name: 'Receive 7 pieces of 3 pets' }).click()
  await page.getByText('Received PO-7: 7 pieces of 3 pets are in stock now.').waitFor()
})

test('an unknown barcode offers to add a pet with it, and the delivery continues with that pet', async () => {
  const page = await shop.signedIn({ path: '/#/receive' })
  await ready(page)
  await scan(page, '9999999999994')
  await page.getByText('No pet has the barcode 9999999999994.').waitFor()
  await page.getByRole('button', { name: 'Add a pet with this barcode' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a pet' })
  expect(await dialog.getByLabel('Barcode').inputValue()).toBe('9999999999994')
  await dialog.getByLabel('Name').fill('Newcomer')
  await dialog.getByLabel('Category').selectOption({ index: 1 })
  await dialog.getByRole('button', { name: 'Add' }).click()
  await page.getByLabel('How many Newcomer have arrived').waitFor()
  await page.keyboard.type('6')
  await page.keyboard.press('Enter')
  await page.getByText('In the list: 6 × Newcomer.').waitFor()
  await scan(page, '9999999999994')
  await page.getByText('1 pet, 7 pieces').waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
})

test('a delivery is undone as a whole, or refused with the reason of each pet', async () => {
  const page = await shop.signedIn({ path: '/#/receive', provokes: [409] })
  await ready(page)
  for (const petId of [38, 39]) await scan(page, barcodeOf(petId))
  await page.keyboard.type('5')
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByLabel('Reference').fill('PO-9')
  await page.keyboard.press('Enter')
  await page.getByText('Received PO-9: 6 pieces of 2 pets are in stock now.').waitFor()
  const soldElsewhere = (delta: number) =>
    shop.send('POST', '/inventory/adjustments', { reason: 'sold', changes: [{ petId: 39, delta }] })
  await soldElsewhere(-13)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Pet number 39: only 2 are left to take back.').waitFor()
  expect(await Promise.all([38n, 39n].map(shop.inStock))).toEqual([11, 2])
  await soldElsewhere(13)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Received PO-9: 6 pieces of 2 pets taken out of the stock again.').waitFor()
  expect(await Promise.all([38n, 39n].map(shop.inStock))).toEqual([10, 10])
})
