import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { scan } from '../support/scanning.ts'
import { BROWSER_TEST_MS, useShop } from '../support/shop.ts'
import { activeRow, countIs, goToRow, namesShown, rowOf, saved, shows } from '../support/stock-table.ts'

/** More than the page holds, so the service searches and sorts. */
const PETS = 12_000
const LAST_CODE = '4006381333931'

const shop = useShop({
  pets: Array.from({ length: PETS }, (_, index) => ({
    id: BigInt(index + 1),
    name: index === PETS - 1 ? 'Zebra finch' : `Pet number ${index + 1}`,
    categoryId: BigInt(1 + (index % 2)),
    status: 'available' as const,
    quantity: index === PETS - 2 ? 0 : 10,
    ...(index === PETS - 1 ? { barcode: LAST_CODE, lowStockAt: 20 } : {}),
  })),
})

const search = (page: Page) => page.getByRole('searchbox')
const large = async (page: Page) => {
  await rowOf(page, 1n).getByText('Pet number 1', { exact: true }).waitFor()
  await page.getByText(/^Showing the first [\d,]+ pets$/).waitFor()
}

test(
  'a large store is searched, filtered and sorted whole, though the page holds a part of it',
  async () => {
    const page = await shop.signedIn()
    await large(page)
    await axe(page)
    await search(page).fill('zebra')
    await countIs(page, '1 pet found')
    expect(await namesShown(page)).toEqual(['Zebra finch'])
    await search(page).fill('')
    await page.getByLabel('Low stock').check()
    await countIs(page, '1 pet found')
    await page.getByLabel('Low stock').uncheck()
    await countIs(page, /^Showing the first/)
    await page.getByRole('columnheader', { name: 'Quantity' }).getByRole('button').click()
    await rowOf(page, BigInt(PETS - 1)).waitFor()
    expect((await namesShown(page))[0]).toBe(`Pet number ${PETS - 1}`)
    await page.getByLabel('Category', { exact: true }).selectOption('Category 2')
    await rowOf(page, BigInt(PETS - 1)).waitFor({ state: 'detached' })
    await search(page).fill('nothing like it')
    await page.getByText('Nothing found').waitFor()
  },
  BROWSER_TEST_MS,
)

test(
  'a row beyond the loaded ones is found by Enter and by a scan, changed, and follows changes of others',
  async () => {
    const page = await shop.signedIn({ provokes: [404] })
    await large(page)
    await search(page).fill('11990')
    await search(page).press('Enter')
    await page.waitForFunction(() => document.activeElement?.role === 'grid')
    expect(await activeRow(page)).toBe('pet-11990')
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
  },
  BROWSER_TEST_MS,
)

test(
  'scrolling loads the next rows',
  async () => {
    const page = await shop.signedIn()
    await large(page)
    await search(page).fill('pet')
    await countIs(page, 'Showing the first 1,000 pets')
    await page.getByRole('grid').focus()
    await page.keyboard.press('End')
    await countIs(page, 'Showing the first 2,000 pets')
    await page.keyboard.press('ArrowDown')
    expect(await activeRow(page)).toBe('pet-1001')
  },
  BROWSER_TEST_MS,
)
