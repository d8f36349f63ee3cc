import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { BROWSER_TEST_MS, useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'
import { activeRow, countIs, namesShown, quantityOf, rowOf } from '../support/stock-table.ts'

const BEYOND_DOUBLE = 9007199254740993n
const KINDS = ['Beagle', 'Maine Coon', 'Goldfish', 'Cockatiel'] as const
const STATUSES = ['available', 'available', 'pending', 'sold'] as const

const MANY = Array.from({ length: 2_000 }, (_, index) => ({
  id: index < 1_000 ? BigInt(index + 1) : BEYOND_DOUBLE + BigInt(index),
  name: `${KINDS[index % 4]} ${index + 1}`,
  categoryId: BigInt(1 + (index % 7)),
  status: STATUSES[index % 4] ?? 'available',
  quantity: 10 + ((index * 37) % 400),
}))

const SPECIAL = [
  {
    id: 5_000n,
    name: 'Ørsted, "the Pérez"',
    categoryId: 1n,
    status: 'sold' as const,
    quantity: 2,
    lowStockAt: 5,
  },
  { id: 5_001n, name: '=SUM(A1)', categoryId: 2n, status: 'pending' as const, quantity: 5, lowStockAt: 5 },
  {
    id: 9223372036854775807n,
    name: 'Zebra finch',
    categoryId: 3n,
    status: 'available' as const,
    quantity: 0,
    lowStockAt: 5,
  },
]

const shop = useShop({ pets: [...MANY, ...SPECIAL] })
const search = (page: Page) => page.getByLabel('Search by name or id')

test(
  'of thousands only what is in sight is drawn, and the last id is exact',
  async () => {
    const page = await shop.signedIn()
    await rowOf(page, 1n).getByText('Beagle 1', { exact: true }).waitFor()
    await countIs(page, '2,003 pets')
    const grid = page.getByRole('grid')
    expect(await grid.getAttribute('aria-rowcount')).toBe('2004')
    expect(await page.locator('.stock-row').count()).toBeLessThan(60)

    await grid.focus()
    await page.keyboard.press('End')
    const last = rowOf(page, 9223372036854775807n)
    await last.getByText('9223372036854775807').waitFor()
    expect(await last.getAttribute('aria-rowindex')).toBe('2004')
    expect(await last.isVisible()).toBe(true)
    expect(await page.locator('.stock-row').count()).toBeLessThan(60)
    expect(await rowOf(page, 1n).count()).toBe(0)
  },
  BROWSER_TEST_MS,
)

test(
  'search as you type finds names and ids, whatever the case and the marks',
  async () => {
    const page = await shop.signedIn()
    await rowOf(page, 1n).getByText('Beagle 1', { exact: true }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('perez')
    await countIs(page, '1 of 2,003 pets')
    expect(await namesShown(page)).toEqual(['Ørsted, "the Pérez"'])
    await search(page).fill('1986 MAINE')
    await rowOf(page, BEYOND_DOUBLE + 1_985n).waitFor()
    expect(await namesShown(page)).toEqual(['Maine Coon 1986'])
    await search(page).fill('54775807')
    await rowOf(page, 9223372036854775807n).waitFor()
    await countIs(page, '1 of 2,003 pets')
    await search(page).fill('nothing like it')
    await page.getByText('No pet fits the search').waitFor()
    await search(page).press('Escape')
    await countIs(page, '2,003 pets')
  },
  BROWSER_TEST_MS,
)

test(
  'filters by status and by low stock, which is what the thresholds say, also after a reload',
  async () => {
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
    expect(await quantityOf(page, 5_000n).getAttribute('title')).toBe('Low stock')
    expect(await quantityOf(page, 9223372036854775807n).getAttribute('title')).toBe('None in stock')
    await shop.setLowStockAt('pets/5001', 4)
    await countIs(page, '2 of 2,003 pets')
    await page.reload()
    await countIs(page, '2 of 2,003 pets')

    // One that falls to its threshold comes in by itself.
    await shop.setLowStockAt('pets/7', 1)
    await shop.service.setQuantity(7n, '{"quantity": 1}')
    await countIs(page, '3 of 2,003 pets')
    await shop.service.setQuantity(7n, '{"quantity": 40}')
    await countIs(page, '2 of 2,003 pets')
  },
  BROWSER_TEST_MS,
)

test(
  'sorts by each column, one way and the other',
  async () => {
    const page = await shop.signedIn()
    await countIs(page, '2,003 pets')
    const header = (name: string) => page.getByRole('columnheader', { name })
    const firstAfter = async (name: string, direction: string) => {
      await header(name).getByRole('button').click()
      expect(await header(name).getAttribute('aria-sort')).toBe(direction)
      return (await namesShown(page))[0]
    }
    expect(await firstAfter('Name', 'ascending')).toBe('=SUM(A1)')
    expect(await firstAfter('Name', 'descending')).toBe('Ørsted, "the Pérez"')
    expect(await firstAfter('Quantity', 'ascending')).toBe('Zebra finch')
    expect(await firstAfter('Quantity', 'descending')).toMatch(/^(Beagle|Maine Coon|Goldfish|Cockatiel) /)
    expect(await firstAfter('Free', 'ascending')).toBe('Zebra finch')
    expect(await firstAfter('ID', 'ascending')).toBe('Beagle 1')
    expect(await firstAfter('ID', 'descending')).toBe('Zebra finch')
  },
  BROWSER_TEST_MS,
)

test(
  'a click with Shift selects a range, and the boxes show what is selected',
  async () => {
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
  },
  BROWSER_TEST_MS,
)

test(
  'keys alone go through the table, select, and tell what they do',
  async () => {
    const page = await shop.signedIn()
    await countIs(page, '2,003 pets')
    await page.keyboard.press('/')
    await page.keyboard.press('ArrowDown')
    expect(await activeRow(page)).toBe('pet-1')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    expect(await activeRow(page)).toBe('pet-2')
    await page.keyboard.press('PageDown')
    const afterPage = Number((await activeRow(page))?.replace('pet-', ''))
    expect(afterPage).toBeGreaterThan(8)
    await page.keyboard.press('PageUp')
    expect(await activeRow(page)).toBe('pet-2')

    await page.keyboard.press('Space')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Space')
    await page.getByText('2 selected').waitFor()
    expect(await rowOf(page, 3n).getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('Control+a')
    await page.getByText('2,003 selected').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('selected').waitFor({ state: 'detached' })

    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).getByText('Undo the last change').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('grid').focus()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('heading', { level: 1, name: 'Goldfish 3' }).waitFor()
    await page.goBack()
    await rowOf(page, 3n).waitFor()
    expect(page.url()).not.toContain('pets')
  },
  BROWSER_TEST_MS,
)

test(
  'exports what is shown, in its order, as the importer takes it',
  async () => {
    const page = await shop.signedIn()
    await rowOf(page, 1n).getByText('Beagle 1', { exact: true }).waitFor()
    await shop.setLowStockAt('pets/5001', 5)
    await page.getByLabel('Low stock').check()
    await page.getByRole('columnheader', { name: 'Quantity' }).getByRole('button').click()
    await countIs(page, '3 of 2,003 pets')
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toMatch(/^stock-\d{4}-\d\d-\d\d\.csv$/)
    expect(await Bun.file(await download.path()).text()).toBe(
      [
        'petId,name,categoryId,status,quantity,barcode,lowStockAt,category',
        '9223372036854775807,Zebra finch,3,available,0,,5,Category 3',
        '5000,"Ørsted, ""the Pérez""",1,sold,2,,5,Category 1',
        "5001,'=SUM(A1),2,pending,5,,5,Category 2",
        '',
      ].join('\n'),
    )
    // The table finds parts of words.
    await page.getByLabel('Low stock').uncheck()
    await page.getByLabel('Search by name or id').fill('erez')
    await countIs(page, '1 of 2,003 pets')
    const next = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const lines = (await Bun.file(await (await next).path()).text()).trim().split('\n')
    expect(lines.slice(1)).toEqual([expect.stringMatching(/^5000,/)])
  },
  BROWSER_TEST_MS,
)

test(
  'a phone gets rows of two lines, and buttons that a finger hits',
  async () => {
    const page = await shop.signedIn({ viewport: { width: 390, height: 844 } })
    await rowOf(page, 1n).getByText('Beagle 1', { exact: true }).waitFor()
    const more = page.getByRole('button', { name: 'One more Beagle 1', exact: true })
    const { width = 0, height = 0 } = (await more.boundingBox()) ?? {}
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(44)
    expect((await rowOf(page, 1n).boundingBox())?.height).toBe(84)
    const name = await rowOf(page, 1n).locator('.stock-row__name').boundingBox()
    const id = await rowOf(page, 1n).locator('.stock-row__id').boundingBox()
    expect(id?.y).toBeGreaterThan((name?.y ?? 0) + (name?.height ?? 0) - 1)
    await page.getByLabel('Sort by').selectOption('quantity')
    await rowOf(page, 9223372036854775807n).waitFor()
    expect((await namesShown(page))[0]).toBe('Zebra finch')
  },
  BROWSER_TEST_MS,
)
