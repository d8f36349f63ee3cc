import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { barcodeOf, scannedPets } from '../support/pets.ts'
import { scan } from '../support/scanning.ts'
import { useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'

const shop = useShop({ pets: scannedPets(12) })
const UNKNOWN = '9999999999994'

const opened = (page: Page, petId: number) =>
  page.getByRole('heading', { level: 1, name: `Pet number ${petId}` }).waitFor()
const live = (page: Page) => page.getByText('Live', { exact: true }).waitFor({ state: 'attached' })

test('on a view without a use for scans, a scan opens the pet, and the field keeps what a person typed', async () => {
  const page = await shop.signedIn({ path: '/#/orders' })
  await live(page)
  await scan(page, barcodeOf(3))
  await opened(page, 3)
  // In the field of a quantity it is no amount.
  const field = page.getByRole('textbox', { name: /In stock/ })
  await field.fill('7')
  await scan(page, barcodeOf(4))
  await opened(page, 4)
  expect(await Promise.all([3n, 4n].map(shop.inStock))).toEqual([10, 10])
  await page.goBack()
  await opened(page, 3)
  expect(await page.getByRole('textbox', { name: /In stock/ }).inputValue()).toBe('10')
})

test('the characters of a scan are removed from every kind of field', async () => {
  const page = await shop.signedIn({ path: '/#/overview' })
  await live(page)
  // A field that no code of the page knows keeps its own text.
  const text = await page.evaluateHandle(() => {
    const field = document.createElement('textarea')
    field.value = 'two lines\n'
    document.querySelector('header')?.append(field)
    field.focus()
    return field
  })
  await scan(page, barcodeOf(5))
  await opened(page, 5)
  expect(await text.evaluate(({ value }) => value)).toBe('two lines\n')
  const choice = await page.evaluateHandle(() => {
    const select = document.createElement('select')
    select.append(new Option('none'), new Option('40 pieces'))
    document.querySelector('header')?.append(select)
    select.focus()
    return select
  })
  await scan(page, barcodeOf(6))
  await opened(page, 6)
  expect(await choice.evaluate(({ value }) => value)).toBe('none')
})

test('no character of a scan is a shortcut', async () => {
  const page = await shop.signedIn()
  await live(page)
  await page
    .getByRole('textbox', { name: /^Quantity of/ })
    .first()
    .focus()
  // The key ? opens the list of keys.
  await scan(page, 'AB?123456')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.getByText('No pet has the barcode AB?123456.').waitFor()
  // The key / goes to the search and selects its text, which the next character would replace.
  await page.goto(`${shop.service.address}/#/orders`)
  const search = page.getByRole('searchbox')
  await search.fill('Anna')
  await search.blur()
  await scan(page, 'AB/123456')
  expect(await search.inputValue()).toBe('Anna')
  await page.getByText('No pet has the barcode AB/123456.').waitFor()
})

test('a scan in "Add a pet" fills in the barcode and does not submit it, and an unknown barcode offers that form', async () => {
  const page = await shop.signedIn({ path: '/#/orders' })
  await live(page)
  await scan(page, UNKNOWN)
  await page.getByText(`No pet has the barcode ${UNKNOWN}.`).waitFor()
  await page.getByRole('button', { name: 'Add a pet with this barcode' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a pet' })
  const barcode = dialog.getByLabel('Barcode')
  await expectSoon(() => barcode.inputValue(), UNKNOWN)
  await dialog.getByLabel('Name').fill('Newcomer')
  await dialog.getByLabel('Category').selectOption({ index: 1 })
  await dialog.getByLabel('In stock').focus()
  await scan(page, '8888888888882')
  await expectSoon(() => barcode.inputValue(), '8888888888882')
  expect(await dialog.getByLabel('In stock').inputValue()).toBe('0')
  await barcode.focus()
  await scan(page, '7777777777770')
  await expectSoon(() => barcode.inputValue(), '7777777777770')
  expect(await dialog.isVisible()).toBe(true)
  await dialog.getByRole('button', { name: 'Add' }).click()
  await page.getByRole('heading', { level: 1, name: 'Newcomer' }).waitFor()
  await scan(page, barcodeOf(2))
  await opened(page, 2)
  await scan(page, '7777777777770')
  await page.getByRole('heading', { level: 1, name: 'Newcomer' }).waitFor()
})
