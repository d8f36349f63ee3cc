import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { petsNumbered } from '../support/pets.ts'
import { scan } from '../support/scanning.ts'
import { useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'
import { activeRow, countIs, fieldOf, goToRow, rowOf, saved, shows } from '../support/stock-table.ts'

const MANY = 3_000
const CODE = '4006381333931'
const shop = useShop({
  pets: petsNumbered(MANY, (index) => ({
    ...(index === 0 ? { name: 'Alpaca' } : index === 1 ? { name: 'Budgie' } : {}),
    quantity: 4,
    ...(index === 77 ? { barcode: CODE } : {}),
  })),
})
const search = (page: Page) => page.getByRole('searchbox')

test('what is typed after a search goes to what was found, not to what was saved before', async () => {
  const page = await shop.signedIn()
  await countIs(page, `${MANY.toLocaleString('en')} pets`)
  await goToRow(page, 1n)
  await page.keyboard.type('5')
  await page.keyboard.press('Enter')
  await saved(page, 1n)
  // Returns to the saved row, as a person does who checks it.
  await page.keyboard.press('ArrowUp')
  expect(await activeRow(page)).toBe('pet-1')
  // Faster than the rows follow.
  await page.keyboard.press('/')
  await page.keyboard.type('budgie')
  await page.keyboard.press('Enter')
  await page.keyboard.type('77')
  await page.keyboard.press('Enter')
  await saved(page, 2n)
  await countIs(page, `1 of ${MANY.toLocaleString('en')} pets`)
  expect(await Promise.all([1n, 2n].map(shop.inStock))).toEqual([5, 77])

  // The old words are selected: typing takes their place. An exact id comes before all that contain it.
  await page.keyboard.press('/')
  await page.keyboard.type('300')
  await page.keyboard.press('Enter')
  expect(await activeRow(page)).toBe('pet-300')
  await page.keyboard.press('/')
  await page.keyboard.type('no such thing')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing found').waitFor()
  await expectSoon(() => search(page).evaluate((field) => field === document.activeElement), true)

  await search(page).fill('number 1234')
  await page.getByRole('button', { name: 'Available' }).click()
  await page.getByRole('columnheader', { name: 'Quantity' }).getByRole('button').click()
  await page.waitForURL(/#\/stock\?q=number\+1234&status=available&sort=quantity$/)
  await page.reload()
  await countIs(page, '1 of 3,000 pets')
  expect(await search(page).inputValue()).toBe('number 1234')
  expect(await page.getByRole('button', { name: 'Available' }).getAttribute('aria-pressed')).toBe('true')
  const quantity = page.getByRole('columnheader', { name: 'Quantity' })
  expect(await quantity.getAttribute('aria-sort')).toBe('ascending')
})

test('a scan is looked up wherever the focus is, and never becomes a quantity', async () => {
  const page = await shop.signedIn()
  const lastPage = page.waitForResponse(
    (response) =>
      response.url().includes('/inventory/search') && !response.headers().link?.includes('rel="next"'),
  )
  await page.reload()
  await lastPage
  await rowOf(page, 1n).getByText('Alpaca').waitFor()
  const lookups: string[] = []
  page.on('request', (request) => {
    const url = request.url()
    if (url.includes('/inventory/search') && url.includes('q=')) lookups.push(url)
  })
  await goToRow(page, 3n)
  await scan(page, CODE)
  await rowOf(page, 78n).waitFor()
  await countIs(page, '1 of 3,000 pets')
  expect(await activeRow(page)).toBe('pet-78')
  expect(await search(page).inputValue()).toBe(CODE)
  await page.keyboard.type('6')
  await page.keyboard.press('Enter')
  await saved(page, 78n)
  lookups.length = 0

  // In the middle of typing: what hands typed is saved, what the scanner typed is not part of it.
  await search(page).fill('')
  await countIs(page, '3,000 pets')
  await goToRow(page, 5n)
  await page.keyboard.type('9')
  await scan(page, CODE)
  await rowOf(page, 78n).waitFor()
  expect(await activeRow(page)).toBe('pet-78')
  await search(page).fill('')
  await expectSoon(() => Promise.all([3n, 5n, 78n].map(shop.inStock)), [4, 9, 6])
  // The page knows all pets by now.
  expect(lookups).toEqual([])

  await goToRow(page, 3n)
  await scan(page, '9999999999994')
  await page.getByText('No pet has the barcode 9999999999994.').waitFor()
  await page.keyboard.type('7')
  await page.keyboard.press('Enter')
  expect(await shop.inStock(3n)).toBe(4)
})

test('a quantity far beyond the old one asks first, and what was typed can be looked at again', async () => {
  const page = await shop.signedIn()
  await rowOf(page, 10n).waitFor()
  await goToRow(page, 10n)
  await page.keyboard.type('5000')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Set Pet number 10 to 5,000?' })
  await dialog.waitFor()
  await axe(page)
  // Enter takes the safe answer.
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  expect(await fieldOf(page, 10n).inputValue()).toBe('5000')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Set 5,000' }).click()
  await saved(page, 10n)
  expect(await shop.inStock(10n)).toBe(5_000)
})

test('+12 and -3 change it by a difference, whatever others do, and one that is too large says so', async () => {
  const page = await shop.signedIn({ provokes: [409] })
  await rowOf(page, 11n).waitFor()
  await goToRow(page, 11n)
  await page.keyboard.type('+12')
  await shop.setElsewhere(11n, 100)
  const sent = page.waitForRequest('**/v1/inventory/adjustments')
  await page.keyboard.press('Enter')
  expect((await sent).postDataJSON()).toEqual({ reason: 'corrected', changes: [{ petId: 11, delta: 12 }] })
  await shows(page, 11n, 112)
  // Enter has gone on to the next field.
  await page.keyboard.type('-3')
  await page.keyboard.press('ArrowUp')
  await saved(page, 12n)
  expect(await activeRow(page)).toBe('pet-11')
  expect(await Promise.all([11n, 12n].map(shop.inStock))).toEqual([112, 1])

  await goToRow(page, 12n)
  await page.keyboard.type('-3')
  await page.keyboard.press('Enter')
  await rowOf(page, 12n).getByText('Not saved: −3. There were not enough to take 3.').waitFor()
  await shop.setElsewhere(12n, 5)
  await page.getByRole('button', { name: 'Try again to change Pet number 12 by −3' }).click()
  await saved(page, 12n)
  expect(await shop.inStock(12n)).toBe(2)
  await page.keyboard.press('Control+z')
  await page.getByText('Undone. Pet number 12 is back at 5.').waitFor()
})
