import { expect, test } from 'bun:test'
import { PHONE } from '../support/layout.ts'
import { petsNumbered } from '../support/pets.ts'
import { useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'
import { activeRow, countIs, fieldOf, goToRow, namesShown, rowOf } from '../support/stock-table.ts'

const LAST = 9223372036854775807n
const MANY = petsNumbered(2_000, (index) => ({
  ...(index < 1_000 ? {} : { id: 9007199254740993n + BigInt(index) }),
  categoryId: BigInt(1 + (index % 7)),
  ...(index % 4 === 3 ? { status: 'sold' } : {}),
}))

const SPECIAL = [
  { id: 5_000n, name: 'Ørsted, "the Pérez"', categoryId: 1n, status: 'sold', quantity: 2, lowStockAt: 5 },
  { id: 5_001n, name: '=SUM(A1)', categoryId: 2n, status: 'pending', quantity: 5, lowStockAt: 5 },
  { id: LAST, name: 'Zebra finch', categoryId: 3n, status: 'available', quantity: 0, lowStockAt: 5 },
] as const

const shop = useShop({ pets: [...MANY, ...SPECIAL] })

test('thousands are shown on pages of 100, through which the arrow keys go on, and the last id is exact', async () => {
  const page = await shop.signedIn()
  await countIs(page, '2,003 pets')
  expect(await page.locator('.stock-row').count()).toBe(100)
  await goToRow(page, 100n)
  await page.keyboard.press('ArrowDown')
  await countIs(page, '101 to 200 of 2,003')
  expect(await activeRow(page)).toBe('pet-101')
  await page.keyboard.press('ArrowUp')
  expect(await activeRow(page)).toBe('pet-100')
  const next = page.getByRole('button', { name: 'Next' })
  while (await next.isEnabled()) await next.click()
  await countIs(page, '2,001 to 2,003 of 2,003')
  await rowOf(page, LAST).getByText('9223372036854775807').waitFor()
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click()
  await countIs(page, '1 to 100 of 2,003')
})

test('filters by status and by low stock, which is what the thresholds say, also after a reload', async () => {
  const page = await shop.signedIn()
  await rowOf(page, 1n).waitFor()
  await page.getByRole('button', { name: 'Sold' }).click()
  await countIs(page, '501 of 2,003 pets')
  await page.getByLabel('Category', { exact: true }).selectOption('Category 1')
  await countIs(page, '73 of 2,003 pets')
  await page.waitForURL(/status=sold&category=1$/)
  await page.getByLabel('Category', { exact: true }).selectOption('All categories')
  await page.getByLabel('Low stock').check()
  await countIs(page, '1 of 2,003 pets')
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await countIs(page, '3 of 2,003 pets')
  expect(await fieldOf(page, 5_000n).getAttribute('title')).toBe('Low stock')
  expect(await fieldOf(page, LAST).getAttribute('title')).toBe('None in stock')
  await rowOf(page, LAST).getByText('sold out', { exact: true }).waitFor()
  await shop.send('PATCH', '/pets/5001', { lowStockAt: 4 })
  await countIs(page, '2 of 2,003 pets')
  await page.reload()
  await countIs(page, '2 of 2,003 pets')

  // One that falls to its threshold comes in by itself.
  await shop.send('PATCH', '/pets/7', { lowStockAt: 1 })
  await shop.setElsewhere(7n, 1)
  await countIs(page, '3 of 2,003 pets')
  await shop.setElsewhere(7n, 40)
  await countIs(page, '2 of 2,003 pets')
})

test('a click with Shift selects a range, and the boxes show what is selected', async () => {
  const page = await shop.signedIn()
  const box = (petId: bigint) => rowOf(page, petId).getByRole('checkbox')
  await box(2n).click()
  await box(4n).click({ modifiers: ['Shift'] })
  await page.getByText('3 selected').waitFor()
  // The range is the row itself, which stays selected.
  await box(4n).click({ modifiers: ['Shift'] })
  const boxes = () => Promise.all([1n, 2n, 3n, 4n, 5n].map((petId) => box(petId).isChecked()))
  await expectSoon(boxes, [false, true, true, true, false])
  await box(3n).click()
  await page.getByText('2 selected').waitFor()
  await expectSoon(boxes, [false, true, false, true, false])
})

test('keys alone go through the table, select, and tell what they do', async () => {
  const page = await shop.signedIn()
  await countIs(page, '2,003 pets')
  await page.keyboard.press('/')
  await page.keyboard.press('ArrowDown')
  await expectSoon(() => activeRow(page), 'pet-1')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  expect(await activeRow(page)).toBe('pet-2')

  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await page.getByText('2 selected').waitFor()
  expect(await rowOf(page, 3n).getByRole('checkbox').isChecked()).toBe(true)
  await page.getByLabel('Select all rows of this page').check()
  await page.getByText('100 selected').waitFor()
  await page.getByRole('button', { name: 'Select all 2,003' }).click()
  await page.getByText('2,003 selected').waitFor()
  await goToRow(page, 3n)
  await page.keyboard.press('Escape')
  await page.getByText('selected').waitFor({ state: 'detached' })

  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).getByText('Undo the last change').waitFor()
  await page.keyboard.press('Escape')
})

test('exports what is shown, in its order, as the importer takes it', async () => {
  const page = await shop.signedIn()
  await rowOf(page, 1n).getByText('Pet number 1', { exact: true }).waitFor()
  await shop.send('PATCH', '/pets/5001', { lowStockAt: 5 })
  await page.getByLabel('Low stock').check()
  await page.getByRole('columnheader', { name: 'Quantity' }).getByRole('button').click()
  await countIs(page, '3 of 2,003 pets')
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const download = await downloading
  expect(download.suggestedFilename()).toMatch(/^stock-\d{4}-\d\d-\d\d\.csv$/)
  const lines = (await Bun.file(await download.path()).text()).split('\n')
  expect(lines.slice(1, 3)).toEqual([
    expect.stringMatching(/^9223372036854775807,Z/),
    expect.stringMatching(/^5000,/),
  ])
  expect(lines).toHaveLength(5)
})

test('a phone gets rows of two lines, and buttons that a finger hits', async () => {
  const page = await shop.signedIn({ viewport: PHONE })
  await rowOf(page, 1n).getByText('Pet number 1', { exact: true }).waitFor()
  const more = page.getByRole('button', { name: 'One more Pet number 1', exact: true })
  const { width = 0, height = 0 } = (await more.boundingBox()) ?? {}
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(44)
  const name = await rowOf(page, 1n).getByRole('link').boundingBox()
  const id = await rowOf(page, 1n).getByText('#1', { exact: true }).boundingBox()
  expect(id?.y).toBeGreaterThan((name?.y ?? 0) + (name?.height ?? 0) - 1)
  await page.getByLabel('Sort by').selectOption('quantity')
  await rowOf(page, LAST).waitFor()
  expect((await namesShown(page))[0]).toBe('Zebra finch')
})
