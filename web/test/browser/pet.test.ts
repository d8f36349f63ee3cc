import { afterEach, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { PHONE } from '../support/layout.ts'
import { useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'
import { activeRow, goToRow } from '../support/stock-table.ts'

let isHistoryBroken = false
let isHistoryRemoved = false
/** How many pages of the history are empty before the first change, as if the pet had been edited very often. */
let emptyPages = 0
let isStockBroken = false
const broken = () => Promise.reject(new Error('the disk is on fire'))

const shop = useShop({
  wrapStore: (store) => ({
    ...store,
    listHistoryPage: async (petId, limit, cursor) => {
      if (isHistoryBroken) return broken()
      if (isHistoryRemoved) return { rows: [], next: undefined }
      if (emptyPages === 0)
        return store.listHistoryPage(petId, limit, cursor === 'later' ? undefined : cursor)
      emptyPages--
      return { rows: [], next: 'later' }
    },
    searchPets: (...request) => (isStockBroken ? broken() : store.searchPets(...request)),
  }),
})

afterEach(() => {
  isHistoryBroken = false
  isHistoryRemoved = false
  isStockBroken = false
})

const historyRows = (page: Page) =>
  page
    .getByRole('table')
    .getByRole('row')
    .filter({ has: page.getByRole('cell') })
const line = (page: Page) => page.locator('.step-chart__line')

const set = (petId: bigint, quantity: number, key = shop.service.key) =>
  shop.send('PATCH', `/inventory/${petId}`, { quantity }, key)
const adjust = (reason: string, petId: number, delta: number, reference?: string) =>
  shop.send('POST', '/inventory/adjustments', { reason, reference, changes: [{ petId, delta }] })

test('a pet shows what it is, and who changed its quantity when, from what to what', async () => {
  const { secret } = await shop.service.createKey('enterprise', { name: 'Front desk' })
  await set(1n, 9, secret)
  await set(1n, 6, secret)
  const page = await shop.signedIn({ path: '/#/pets/1' })
  await page.getByRole('heading', { level: 1, name: 'Biscuit' }).waitFor()
  const facts = page.locator('.pet__facts')
  await facts.getByText('Category 1').waitFor()
  expect(await facts.innerText()).toMatch(/available\s+Pet id\s+1\s+Category\s+Category 1/)
  expect(await page.getByLabel('In stock').inputValue()).toBe('6')
  await historyRows(page).nth(2).waitFor()
  const rows = await historyRows(page).allInnerTexts()
  expect(rows).toHaveLength(3)
  expect(rows[0]).toMatch(/just now\s+\d+ \w+, \d\d:\d\d\s+Front desk\s+9\s*→\s*to\s+6\s+−3/i)
  expect(rows[1]).toMatch(/Front desk\s+4\s*→\s*to\s+9\s+\+5/)
  expect(rows[2]).toMatch(/petstore\s+0\s*→\s*to\s+4\s+\+4/)
})

test('the history is drawn as steps, one for each change, with the warning threshold', async () => {
  const { secret } = await shop.service.createKey('enterprise', { name: 'Stockroom' })
  for (const quantity of [12, 3, 7]) await set(2n, quantity, secret)
  const page = await shop.signedIn({ path: '/#/pets/2' })
  await line(page).waitFor()
  const path = (await line(page).getAttribute('d')) ?? ''
  expect(path.match(/V/g)).toHaveLength(4)
  const box = await line(page).boundingBox()
  expect(box?.width).toBeGreaterThan(500)
  expect(box?.height).toBeGreaterThan(100)
  await page.getByText(/^4 changes since .*: lowest 0, highest 12, now 7\.$/).waitFor()
  expect(await page.locator('.step-chart__threshold').count()).toBe(0)
  await shop.send('PATCH', '/pets/2', { lowStockAt: 5 })
  await page.getByText('The dashed line is the warning at 5.').waitFor()
  await page.locator('.step-chart__threshold').waitFor({ state: 'attached' })
})

test('empty pages of a history are skipped, and after some of them the user decides whether to search further', async () => {
  await set(9007199254740993n, 9)
  emptyPages = 7
  const page = await shop.signedIn({ path: '/#/pets/9007199254740993' })
  const more = page.getByRole('button', { name: 'Show more' })
  await more.waitFor()
  expect(emptyPages).toBe(2)
  await more.click()
  await historyRows(page).first().waitFor()
})

test('a change by somebody else appears in the quantity, the list and the chart as it happens', async () => {
  const page = await shop.signedIn({ path: '/#/pets/3' })
  await historyRows(page).waitFor()
  const { secret } = await shop.service.createKey('enterprise', { name: 'Online shop' })
  await set(3n, 5, secret)
  await historyRows(page).filter({ hasText: 'Online shop' }).filter({ hasText: '+5' }).waitFor()
  expect(await page.getByLabel('In stock').inputValue()).toBe('5')
  expect(((await line(page).getAttribute('d')) ?? '').match(/V/g)).toHaveLength(2)
  await set(3n, 2, secret)
  await historyRows(page).filter({ hasText: '−3' }).waitFor()
  expect(await historyRows(page).count()).toBe(3)
  await page.waitForFunction(
    () => document.querySelector('.step-chart__line')?.getAttribute('d')?.match(/V/g)?.length === 3,
  )
})

test('the history says what a change was made for and what it refers to, listed and as it happens', async () => {
  const long = 'x'.repeat(200)
  await adjust('received', 3, 12, 'PO-1043')
  const page = await shop.signedIn({ path: '/#/pets/3', viewport: PHONE })
  const rows = historyRows(page)
  expect(await rows.first().innerText()).toMatch(/Received · PO-1043/)
  await adjust('sold', 3, -2, 'order <b>17</b>')
  await rows.getByText('Sold · order <b>17</b>').waitFor()
  await adjust('damaged', 3, -1)
  await rows.getByText('Damaged', { exact: true }).waitFor()
  await adjust('returned', 3, 1, long)
  await rows.getByText(`Returned · ${long}`).waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  // What was set without saying what for has only who set it.
  await set(3n, 50)
  await rows.filter({ hasText: /→\s*to\s*50/ }).waitFor()
  expect(await rows.first().locator('.history-table__why').count()).toBe(0)
})

test('the quantity is corrected by typing and by steps, over what was seen and nothing else', async () => {
  const petId = 9007199254740993n
  const page = await shop.signedIn({ path: `/#/pets/${petId}`, provokes: [412] })
  const field = page.getByLabel('In stock')
  await field.fill('20')
  await field.press('Enter')
  await historyRows(page).filter({ hasText: '+11' }).waitFor()
  await page.getByRole('button', { name: 'One less' }).click()
  await historyRows(page).filter({ hasText: '−1' }).waitFor()
  expect(await shop.inStock(petId)).toBe(19)

  await field.fill('x')
  await page.getByText('A whole number of 0 or more.').waitFor()
  await field.fill('30')
  await set(petId, 25)
  await historyRows(page).filter({ hasText: '+6' }).waitFor()
  await field.press('Enter')
  await page.getByRole('button', { name: /^Set 30/ }).waitFor()
  expect(await shop.inStock(petId)).toBe(25)
  await page.getByRole('button', { name: /^Set 30/ }).click()
  await historyRows(page).filter({ hasText: '+5' }).waitFor()
  expect(await field.inputValue()).toBe('30')
})

test('a long history is shown page by page, and the chart draws what is loaded', async () => {
  const petId = 9223372036854775807n
  for (let quantity = 1; quantity <= 105; quantity++) await set(petId, quantity + 1_000)
  const page = await shop.signedIn({ path: `/#/pets/${petId}` })
  await page.getByText(/^The last 100 changes, since/).waitFor()
  expect(await historyRows(page).count()).toBeLessThan(100)
  const more = page.getByRole('button', { name: 'Show more' })
  while ((await historyRows(page).count()) < 106) await more.click()
  await page.getByText(/^106 changes since/).waitFor()
  expect(await more.count()).toBe(0)
  expect((await historyRows(page).allInnerTexts()).at(-2)).toMatch(/8\s*→\s*to\s+1,001/)
})

test('the page of a pet whose history was removed says so', async () => {
  isHistoryRemoved = true
  const page = await shop.signedIn({ path: '/#/pets/2' })
  await page.getByText('Its older history was removed.').waitFor()
  await page.getByText('The chart begins with the next change of the quantity.').waitFor()
})

test('a history that cannot be read says so, leaves the pet usable, and can be asked for again', async () => {
  isHistoryBroken = true
  const page = await shop.signedIn({ path: '/#/pets/2', provokes: [500] })
  const failure = page.getByRole('alert').filter({ has: page.getByRole('button', { name: 'Try again' }) })
  await failure.waitFor()
  expect(await failure.innerText()).not.toContain('fire')
  await axe(page)
  isHistoryBroken = false
  await failure.getByRole('button').click()
  await historyRows(page).first().waitFor()
  expect(await failure.count()).toBe(0)
})

test('a stock that cannot be read can be asked for again', async () => {
  isStockBroken = true
  const page = await shop.signedIn({ path: '/#/pets/2', provokes: [500] })
  const failure = page.getByRole('alert').filter({ has: page.getByRole('button', { name: 'Try again' }) })
  await failure.waitFor()
  isStockBroken = false
  await failure.getByRole('button').click()
  await page
    .getByText(/^Mittens$/)
    .first()
    .waitFor()
  expect(await failure.count()).toBe(0)
})

test('the keyboard goes to a pet and back without losing its place, and the title names the pet', async () => {
  const page = await shop.signedIn()
  const focused = () =>
    page.evaluate(() => document.activeElement?.getAttribute('role') ?? document.activeElement?.tagName)
  await page.getByRole('link', { name: 'Goldie' }).waitFor()
  await goToRow(page, 3n)
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Goldie' }).waitFor()
  expect(await focused()).toBe('MAIN')
  expect(await page.title()).toBe('Goldie · Petstore')
  await page.goBack()
  await page.getByRole('table', { name: 'Stock' }).waitFor()
  await expectSoon(() => activeRow(page), 'pet-3')
  await page.getByRole('searchbox').fill('no such pet')
  await page.getByText('Nothing found').waitFor()
  await page.getByRole('searchbox').fill('')
  await page.getByRole('table', { name: 'Stock' }).waitFor()
  expect(await focused()).toBe('INPUT')
})

test('Escape asks before it discards a new pet, and closes an empty form at once', async () => {
  const page = await shop.signedIn({ path: '/#/pets' })
  const open = () => page.getByRole('button', { name: 'Add a pet' }).click()
  await open()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await open()
  const name = page.getByRole('dialog', { name: 'Add a pet' }).getByLabel('Name')
  await name.fill('Corn snake')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Discard what you entered?' }).waitFor()
  await axe(page)
  // Escape before the page has drawn the answer: it asks again.
  await page.getByRole('button', { name: 'Keep editing' }).evaluate((keep: HTMLElement) => {
    keep.click()
    document.querySelector('dialog')?.dispatchEvent(new Event('cancel', { cancelable: true }))
  })
  await page.getByRole('button', { name: 'Keep editing' }).click()
  expect(await name.inputValue()).toBe('Corn snake')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('an implausible stock of a new pet asks first', async () => {
  const page = await shop.signedIn({ path: '/#/pets' })
  await page.getByRole('button', { name: 'Add a pet' }).click()
  const form = page.getByRole('dialog', { name: 'Add a pet' })
  await form.getByLabel('Name').fill('Corn snake')
  await form.getByLabel('Category').selectOption({ index: 1 })
  await form.getByLabel('In stock').fill('4006381333931')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  const question = page.getByRole('dialog', { name: 'Is this amount right?' })
  await question.getByText('Corn snake: 4,006,381,333,931 in stock').waitFor()
  await question.getByRole('button', { name: 'Look at it again' }).click()
  await form.getByLabel('In stock').fill('3')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText(/^Corn snake is added, with the id \d+\.$/).waitFor()
})

test('a barcode that another pet has names that pet, and leads to it after a question', async () => {
  await shop.send('PATCH', '/pets/3', { barcode: '4006381333931' })
  const page = await shop.signedIn({ path: '/#/pets', provokes: [409] })
  await page.getByRole('button', { name: 'Add a pet' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a pet' })
  await dialog.getByLabel('Name').fill('Corn snake')
  await dialog.getByLabel('Category').selectOption({ index: 1 })
  await dialog.getByLabel('Barcode').fill('4006381333931')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('Barcode 4006381333931 belongs to').waitFor()
  await dialog.getByRole('link', { name: 'Goldie' }).click()
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('heading', { level: 1, name: 'Goldie' }).waitFor()
})
