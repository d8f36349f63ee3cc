import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { fits, focused, PHONE } from '../support/layout.ts'
import { barcodeOf, scannedPets } from '../support/pets.ts'
import { reloadKept } from '../support/reload-kept.ts'
import { scan } from '../support/scanning.ts'
import { keyField, signIn, useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'

const shop = useShop({ pets: scannedPets(130) })

const field = (page: Page, petId: number) =>
  page.getByRole('textbox', { name: `How many Pet number ${petId} are there`, exact: true })
const begin = async (page: Page) => {
  await page.getByRole('button', { name: 'Begin' }).click()
  await page.getByRole('progressbar', { name: 'Counted' }).waitFor()
}
const ASSETS = join(import.meta.dir, '../../dist/assets')
const loaded = (page: Page) => page.locator('button:not([aria-disabled])', { hasText: 'Begin' }).waitFor()
/** Waits until the page has loaded, in advance, the file of the view that contains this text. */
async function viewIsLoaded(page: Page, text: string): Promise<void> {
  const names = readdirSync(ASSETS).filter(
    (name) => name.endsWith('.js') && readFileSync(join(ASSETS, name), 'utf8').includes(text),
  )
  await page.waitForFunction(
    (files) =>
      performance.getEntriesByType('resource').some(({ name }) => files.some((file) => name.endsWith(file))),
    names,
  )
}
const says = (page: Page, words: string) => page.getByRole('status').getByText(words).waitFor()
const warns = (page: Page, words: string) => page.getByRole('alert').getByText(words).waitFor()

test('by scanning and down the list: differences, a reload, what was sold meanwhile, and the sheet on paper', async () => {
  const page = await shop.signedIn({ path: '/#/count', provokes: [400, 412] })
  await loaded(page)
  await page.getByLabel('Only pets with this in their name or id').fill('number 12')
  await says(page, '11 pets')
  await begin(page)
  await page.getByRole('heading', { level: 1, name: 'Count pets “number 12”' }).waitFor()
  await expectSoon(() => focused(page), 'Scan: each scan counts one more')
  for (let scans = 1; scans <= 3; scans++) await scan(page, barcodeOf(12))
  await says(page, 'Pet number 12: 3 counted')
  await scan(page, barcodeOf(1))
  await warns(page, 'Pet number 1 is not part of this count.')
  await page.getByRole('button', { name: 'Count it too' }).click()
  await says(page, '2 of 12 pets counted')

  // A scan into a field of the list is not its number.
  await field(page, 120).focus()
  await page.keyboard.type('8')
  await page.keyboard.press('Enter')
  await expectSoon(() => field(page, 121).evaluate((element) => element === document.activeElement), true)
  await page.keyboard.type('10')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await page.keyboard.type('7')
  await scan(page, barcodeOf(12))
  await says(page, 'Pet number 12: 4 counted')
  expect(await field(page, 123).inputValue()).toBe('7')
  await field(page, 124).fill('1x')
  expect(await field(page, 124).getAttribute('aria-invalid')).toBe('true')
  await page.keyboard.press('Enter')
  await warns(page, 'Enter a whole number of 0 or more for Pet number 124, or nothing.')
  await page.keyboard.press('Escape')
  // The count is kept for the owner of the key, which the page asks for until the service answers.
  await page.route('**/v1/limits', (route) => route.fulfill({ status: 400, body: '{}' }), { times: 1 })
  await reloadKept(page)
  await says(page, '5 of 12 pets counted · 4 differ')
  await page.getByRole('button', { name: /^Uncounted/ }).click()
  expect(await page.locator('.count__field').count()).toBe(7)
  // A pet that is counted now stays in the list.
  await field(page, 125).fill('9')
  await page.keyboard.press('Enter')
  await says(page, '6 of 12 pets counted · 5 differ')
  expect(await page.locator('.count__field').count()).toBe(7)
  await axe(page)

  const printed = page.getByRole('region', { name: 'Count sheet' })
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  await page.emulateMedia({ media: 'print' })
  expect(await printed.getByRole('row').allInnerTexts()).toEqual([
    expect.stringMatching(/Pet\s+Id\s+Barcode\s+In stock\s+Counted/),
    ...Array<unknown>(12).fill(expect.stringMatching(/^Pet number \d+\s+\d+\s+40063810\d{5}\s+10/)),
  ])
  expect(await page.getByRole('banner').isVisible()).toBe(false)
  expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(false)
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  await page.emulateMedia({ media: 'screen' })
  expect(await printed.count()).toBe(0)

  // Two pets are sold: one that the page sees, and one while the count is applied.
  await shop.setElsewhere(12n, 9)
  await page.getByRole('button', { name: /^Counted/ }).click()
  await page.getByRole('row', { name: /^Pet number 12 #12 9 .*Changed$/ }).waitFor()
  await page.getByRole('button', { name: 'Review' }).click()
  await expectSoon(() => focused(page), 'Count')
  const changed = page.getByRole('region', { name: 'Changed since it was counted' })
  await changed.getByText('You counted 4 when the stock was 10; it is 9 now.').waitFor()
  await page.route(
    '**/inventory/adjustments',
    async (route) => {
      await shop.setElsewhere(120n, 6)
      await route.continue()
    },
    { times: 1 },
  )
  await page.getByLabel('Reference').fill('Stocktake')
  await page.getByRole('button', { name: 'Apply 5 pets' }).click()
  await says(page, '4 pets applied, 3 corrected.')
  await changed.getByText('You counted 8 when the stock was 10; it is 6 now.').waitFor()
  expect(await Promise.all([1n, 12n, 120n, 121n, 123n, 125n].map(shop.inStock))).toEqual([1, 9, 6, 10, 7, 9])
  await page.getByRole('button', { name: 'Changed after counting: 3 for Pet number 12' }).click()
  await page.getByRole('button', { name: 'As counted: 8 for Pet number 120' }).click()
  await page.getByRole('button', { name: 'Apply 2 pets' }).click()
  await says(page, '6 pets applied, 5 corrected.')
  await expectSoon(() => focused(page), 'Count')
  await page.getByText('Adjustment 2: 2 pets, 2 corrected by −4').waitFor()
  expect(await Promise.all([12n, 120n].map(shop.inStock))).toEqual([3, 8])

  // An adjustment is undone as a whole, and can be applied again.
  await page.getByRole('button', { name: 'Undo adjustment 2' }).click()
  await page.getByRole('button', { name: 'Apply 2 pets' }).waitFor()
  expect(await Promise.all([12n, 120n].map(shop.inStock))).toEqual([9, 6])
  await page.getByRole('button', { name: 'Apply 2 pets' }).click()
  await says(page, '6 pets applied, 5 corrected.')
  await page.getByRole('button', { name: 'Finish' }).click()
  await loaded(page)
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
})

test('without a network it is begun, counted and looked over, on a phone as well, and applied once it is back', async () => {
  const page = await shop.signedIn({ viewport: PHONE, colorScheme: 'dark', provokes: ['no connection'] })
  await page.getByText('130 pets', { exact: true }).waitFor()
  await viewIsLoaded(page, 'You can count without a connection')
  await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' })
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Count' }).click()
  await loaded(page)
  await fits(page)
  await begin(page)
  await field(page, 2).fill('9007199254740991')
  await page.keyboard.press('Enter')
  await field(page, 3).fill('4')
  await page.keyboard.press('Enter')
  await says(page, '2 of 130 pets counted')
  await fits(page)
  await axe(page)
  // The list goes on behind its first page.
  await field(page, 100).focus()
  await page.keyboard.press('Enter')
  await expectSoon(() => field(page, 101).evaluate((element) => element === document.activeElement), true)
  await page.keyboard.press('ArrowUp')
  await expectSoon(() => field(page, 100).evaluate((element) => element === document.activeElement), true)
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByText('You can count without a connection: this browser keeps it.').waitFor()
  await shop.setElsewhere(3n, 8)
  expect(await page.getByRole('button', { name: 'Apply 2 pets' }).getAttribute('aria-disabled')).toBe('true')
  await fits(page)
  await axe(page)
  await page.context().setOffline(false)
  await page.getByText('You counted 4 when the stock was 10; it is 8 now.').waitFor()
  await page.getByRole('button', { name: 'Resume counting' }).click()
  await page.getByRole('row', { name: /^Pet number 3 .* Changed$/ }).waitFor()
  await fits(page)
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('button', { name: 'Count again for Pet number 3' }).click()
  await page.getByRole('button', { name: 'Apply 1 pet' }).click()
  // An implausible amount always asks.
  const question = page.getByRole('dialog', { name: 'Is this amount right?' })
  await question.getByText('Pet number 2: 9,007,199,254,740,991 counted, 10 expected.').waitFor()
  await question.getByRole('button', { name: 'Apply them' }).click()
  await says(page, '1 pet applied, 1 corrected.')
  expect(await Promise.all([2n, 3n].map(shop.inStock))).toEqual([9007199254740991, 8])
})

test('a blind count hides the expected stock until the review, by keyboard and scanner alone', async () => {
  const page = await shop.signedIn({ path: '/#/count' })
  await loaded(page)
  await page.getByLabel('Category').focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.keyboard.press('Enter')
  await page.getByRole('progressbar', { name: 'Counted' }).waitFor()
  const columns = () => page.getByRole('columnheader').allInnerTexts()
  expect(await columns()).toEqual(['Pet', 'Counted'])
  const finder = page.getByRole('combobox', { name: 'Scan: each scan counts one more' })
  await finder.fill('number 40')
  const option = page.getByRole('option').first()
  expect((await option.innerText()).split(/\s+/)).toEqual(['Pet', 'number', '40', '#40'])
  await finder.press('Escape')
  // Pet 40 is in the first category. A scan while Discard has the focus discards nothing.
  await scan(page, barcodeOf(40))
  await page.getByRole('button', { name: 'Discard' }).focus()
  await scan(page, barcodeOf(40))
  await says(page, 'Pet number 40: 2 counted')
  expect(await page.getByRole('status').getByText('differ').count()).toBe(0)
  expect(await page.getByRole('button', { name: /^Differences/ }).count()).toBe(0)
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  const sheet = page.locator('.sheet')
  expect(await sheet.locator('th').allTextContents()).toEqual(['Pet', 'Id', 'Barcode', 'Counted'])
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  await page.getByRole('button', { name: 'Review' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: /^Pet number 40 10 2 −8$/ }).waitFor()
  // A scan in the review, into the reference, resumes counting.
  await page.getByLabel('Reference').focus()
  await scan(page, barcodeOf(40))
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('row', { name: /^Pet number 40 10 3 −7$/ }).waitFor()
  expect(await page.getByLabel('Reference').inputValue()).toBe('')
  await page.getByRole('button', { name: 'Apply 1 pet' }).focus()
  await page.keyboard.press('Enter')
  await says(page, '1 pet applied, 1 corrected.')
  expect(await shop.inStock(40n)).toBe(3)
})

test('a view that cannot be loaded says so, the others work, and it is loaded again when that can be done', async () => {
  const page = await shop.page({ path: '/#/orders', provokes: ['no connection'] })
  // The sign-in form loads after the page.
  await keyField(page)
  await page.route('**/assets/*.js', (route) => route.abort())
  await signIn(page, shop.service.key)
  await page.getByText('This view could not be loaded').waitFor()
  await axe(page)
  await page.getByRole('link', { name: 'Stock', exact: true }).click()
  await page.getByRole('table', { name: 'Stock' }).waitFor()
  await page.getByRole('link', { name: 'Orders' }).click()
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Load again' }).click()
  await page.getByText('The service still cannot be reached.').waitFor()
  await page.context().setOffline(false)
  await page.unroute('**/assets/*.js')
  await page.getByRole('button', { name: 'Load again' }).click()
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
})
