import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { makeOrder } from '../support/orders.ts'
import { petsNumbered } from '../support/pets.ts'
import { reloadKept } from '../support/reload-kept.ts'
import { scan } from '../support/scanning.ts'
import { signIn, useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'
import { activeRow, countIs, goToRow, namesShown, rowOf, saved, shows } from '../support/stock-table.ts'

/** More than the page holds, so the service searches and sorts. */
const PETS = 12_000
const LAST_CODE = '4006381333931'

const shop = useShop({
  pets: petsNumbered(PETS, (index) => ({
    categoryId: BigInt(1 + (index % 2)),
    ...(index === PETS - 2 ? { quantity: 0 } : {}),
    ...(index === PETS - 1 ? { name: 'Zebra finch', barcode: LAST_CODE, lowStockAt: 20 } : {}),
  })),
})

const search = (page: Page) => page.getByRole('searchbox')
const large = async (page: Page) => {
  await rowOf(page, 1n).getByText('Pet number 1', { exact: true }).waitFor()
  await page.getByText(/^Showing the first [\d,]+ pets$/).waitFor()
}

test('a large store is searched, filtered and sorted whole, though the page holds a part of it', async () => {
  const page = await shop.signedIn()
  await large(page)
  // More is loaded before somebody asks for it.
  await search(page).fill('pet')
  await countIs(page, 'Showing the first 200 pets')
  await goToRow(page, 100n)
  await page.keyboard.press('ArrowDown')
  expect(await activeRow(page)).toBe('pet-101')
  await countIs(page, '101 to 200 of many')
  await countIs(page, 'Showing the first 1,200 pets')
  await search(page).fill('')
  await countIs(page, /^Showing the first/)
  await page.getByRole('columnheader', { name: 'Quantity' }).getByRole('button').click()
  await rowOf(page, BigInt(PETS - 1)).waitFor()
  expect((await namesShown(page))[0]).toBe(`Pet number ${PETS - 1}`)
  await page.getByLabel('Category', { exact: true }).selectOption('Category 2')
  await rowOf(page, BigInt(PETS - 1)).waitFor({ state: 'detached' })
  await search(page).fill('nothing like it')
  await page.getByText('Nothing found').waitFor()
})

test('while the pets load, the page says how far it is, and search and filters find pets that are not loaded yet', async () => {
  const page = await shop.page()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  await page.route(/\/inventory\/search\?.*cursor=/, async (route) => {
    await held
    await route.continue()
  })
  await signIn(page, shop.service.key)
  await countIs(page, 'Loading: 200 pets so far')
  await search(page).fill('zebra')
  await countIs(page, '1 pet found')
  await search(page).fill('')
  await countIs(page, 'Loading: 200 pets so far')
  await page.getByLabel('Low stock').check()
  await countIs(page, '1 pet found')
  expect(await namesShown(page)).toEqual(['Zebra finch'])
  await page.getByLabel('Low stock').uncheck()
  release()
  await large(page)
})

test('a row beyond the loaded ones is found by Enter and by a scan, changed, and follows changes of others', async () => {
  const page = await shop.signedIn({ provokes: [404] })
  await large(page)
  await page.keyboard.press('/')
  await search(page).fill('11990')
  await page.keyboard.press('Enter')
  await expectSoon(() => activeRow(page), 'pet-11990')
  await page.keyboard.type('33')
  await page.keyboard.press('Enter')
  await saved(page, 11_990n)
  expect(await shop.inStock(11_990n)).toBe(33)

  await search(page).fill('')
  await large(page)
  await goToRow(page, 2n)
  await scan(page, LAST_CODE)
  await rowOf(page, BigInt(PETS)).waitFor()
  expect(await activeRow(page)).toBe(`pet-${PETS}`)
  await shop.setElsewhere(BigInt(PETS), 77)
  await shows(page, BigInt(PETS), 77)

  await page.goto(`${shop.service.address}/#/pets/11991`)
  await page.getByRole('heading', { level: 1, name: 'Pet number 11991' }).waitFor()
  await page.goto(`${shop.service.address}/#/pets/99999`)
  await page.getByText('There is no pet 99999').waitFor()
})

/** Sells pieces of a pet that the page does not hold. */
const sellElsewhere = (petId: number, pieces: number) =>
  shop.send('POST', '/inventory/adjustments', { reason: 'sold', changes: [{ petId, delta: -pieces }] })

test('the till finds every pet by name and id, and knows the names of its lines after a reload', async () => {
  await makeOrder(shop, { petId: 11_980, quantity: 2 })
  const page = await shop.signedIn({ path: '/#/sell' })
  const finder = page.getByRole('combobox', { name: 'Scan or search' })
  const line = (name: string) => page.getByRole('listitem', { name, exact: true })
  await page.getByPlaceholder('Barcode, name or id').waitFor()
  await finder.fill('zebra')
  await page.getByRole('option', { name: /Zebra finch/ }).click()
  await line('Zebra finch').waitFor()
  await finder.fill('number 11980')
  await finder.press('Enter')
  await line('Pet number 11980').getByText('8 free, 2 reserved').waitFor()
  await finder.fill('11981')
  await finder.press('Enter')
  await line('Pet number 11981').waitFor()
  await finder.fill('no such pet')
  await finder.press('Enter')
  await page.getByText('No pet matches “no such pet”').waitFor()
  await reloadKept(page)
  for (const name of ['Zebra finch', 'Pet number 11980', 'Pet number 11981']) await line(name).waitFor()
})

test('a count has all pets of its scope, and a scope with too many pets has to be narrowed down', async () => {
  const page = await shop.signedIn({ path: '/#/count' })
  const status = (words: string) => page.getByRole('status').getByText(words).waitFor()
  const begin = page.getByRole('button', { name: 'Begin' })
  await status('More than 5,000 pets. Choose a category or a part of the name.')
  await page.getByLabel('Category').selectOption('Category 2')
  await status('More than 5,000 pets')
  expect(await begin.isDisabled()).toBe(true)
  await page.getByLabel('Only pets with this in their name or id').fill('number 1197')
  await status('5 pets')
  await begin.click()
  await status('0 of 5 pets counted')
  await page.getByLabel('How many Pet number 11978 are there').fill('9')
  await page.keyboard.press('Enter')
  await status('1 of 5 pets counted')
  await reloadKept(page)
  await status('1 of 5 pets counted')
  await page.getByLabel('How many Pet number 11970 are there').waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('button', { name: 'Discard' }).last().click()
  await begin.waitFor()
})

test('Activity shows the names of its pets and finds them by name', async () => {
  const page = await shop.signedIn({ path: '/#/activity' })
  await sellElsewhere(PETS, 1)
  await sellElsewhere(11_970, 1)
  const entries = page.locator('.activity-row')
  await entries.filter({ hasText: 'Pet number 11970' }).filter({ hasText: 'Sold' }).waitFor()
  await page.getByRole('combobox', { name: 'Pet', exact: true }).fill('zebra')
  await page.getByRole('option', { name: /Zebra finch/ }).click()
  await expectSoon(() => entries.filter({ hasText: 'Pet number 11970' }).count(), 0)
  await entries.filter({ hasText: 'Zebra finch' }).first().waitFor()
})
