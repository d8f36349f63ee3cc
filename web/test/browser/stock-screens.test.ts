import { expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { fits, PHONE, resize } from '../support/layout.ts'
import { petsNumbered } from '../support/pets.ts'
import { useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'
import { countIs, fieldOf, goToRow, rowOf, shows } from '../support/stock-table.ts'

const LARGEST = 9007199254740991
const LAST = 9223372036854775807n
const shop = useShop({
  pets: petsNumbered(120, (index) => ({
    name: `Pet with quite a long name, number ${index + 1}`,
    ...(index === 1 ? { categoryId: 1234567890123456789n } : {}),
    ...(index === 2 ? { quantity: LARGEST } : {}),
    ...(index === 119 ? { id: LAST } : {}),
  })),
})

/** Whether a click in the middle of it reaches it: it is on the screen, and nothing is on top of it. */
async function canBeHit(part: Locator): Promise<boolean> {
  return part.evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect()
    const hit = document.elementFromPoint(x + width / 2, y + height / 2)
    return hit !== null && element.contains(hit) && x >= 0 && x + width <= innerWidth
  })
}

/** Runs in the page. Whether no element around it cuts off its beginning or its end. */
function isWhole(element: Element): boolean {
  const { left, right } = element.getBoundingClientRect()
  for (let around = element.parentElement; around !== null; around = around.parentElement) {
    const box = around.getBoundingClientRect()
    const cuts = getComputedStyle(around).overflowX !== 'visible'
    if (cuts && (left < box.left - 1 || right > box.right + 1)) return false
  }
  return true
}

/** Runs in the page. Whether it shows all of its content. */
function isNotCut({ scrollWidth, clientWidth }: Element): boolean {
  return scrollWidth <= clientWidth
}

async function rowsInSight(page: Page): Promise<number> {
  return page.evaluate(() => {
    const main = document.querySelector('main')?.getBoundingClientRect()
    return [...document.querySelectorAll('.stock-row')].filter((row) => {
      const { top, bottom } = row.getBoundingClientRect()
      return main !== undefined && top >= main.top && bottom <= main.bottom
    }).length
  })
}

test('what waits for a choice can be chosen on every screen, and nothing runs into anything else', async () => {
  const page = await shop.signedIn({ provokes: [409, 412] })
  await shows(page, 5n, 10)
  await goToRow(page, 5n)
  await page.keyboard.type('678')
  await shop.setElsewhere(5n, 12_345)
  await page.keyboard.press('Enter')
  await page.keyboard.type('-12')
  await page.keyboard.press('Enter')
  await rowOf(page, 6n).getByText('Not saved: −12.').waitFor()
  const choices = [
    ...['Keep 12,345 for Pet with', 'Set 678 for Pet with', 'Try again to change Pet with'],
    'Leave it: Pet with',
  ]
  for (const width of [768, 900, 1024, 1440, 390]) {
    await resize(page, { width, height: 1_000 })
    await fits(page)
    for (const name of choices) {
      const choice = page.getByRole('table', { name: 'Stock' }).getByRole('button', { name })
      await choice.scrollIntoViewIfNeeded()
      expect([width, name, await canBeHit(choice)]).toEqual([width, name, true])
    }
    const navigation = page.getByRole('navigation', { name: 'Main' })
    const isNavigationWhole = await navigation.evaluate(isNotCut)
    expect([width, isNavigationWhole]).toEqual([width, true])
    expect(await fieldOf(page, 3n).inputValue()).toBe(String(LARGEST))
    expect([width, await fieldOf(page, 3n).evaluate(isNotCut)]).toEqual([width, true])
    expect([width, await fieldOf(page, 3n).evaluate(isWhole)]).toEqual([width, true])
  }
})

test('on a phone held sideways the tools scroll away, and keys still show the row that they go to', async () => {
  const page = await shop.signedIn({ viewport: { width: 844, height: 390 }, isTouch: true })
  await shows(page, 1n, 10)
  const more = page.getByRole('button', { name: /^One more .* number 1$/ })
  const { width = 0, height = 0 } = (await more.boundingBox()) ?? {}
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(44)
  const check = rowOf(page, 1n).locator('.stock-table__check')
  expect((await check.boundingBox())?.height).toBeGreaterThanOrEqual(44)

  const search = page.getByRole('searchbox')
  await page.locator('main').evaluate((main) => main.scrollBy(0, 260))
  await page.waitForFunction(
    () => (document.querySelector('.toolbar')?.getBoundingClientRect().bottom ?? 1) < 56,
  )
  expect(await rowsInSight(page)).toBeGreaterThanOrEqual(5)
  expect(await canBeHit(search)).toBe(false)
  await goToRow(page, 99n)
  await page.keyboard.press('ArrowDown')
  expect(await canBeHit(fieldOf(page, 100n))).toBe(true)
  await goToRow(page, 2n)
  await page.keyboard.press('ArrowUp')
  expect(await canBeHit(fieldOf(page, 1n))).toBe(true)
})

test('printing gives the rows of all pages, and no tools', async () => {
  for (let petId = 1000; petId < 1100; petId++) {
    await shop.send('POST', '/pets', { id: petId, name: `Another ${petId}`, categoryId: 1 })
  }
  const page = await shop.signedIn()
  await countIs(page, '220 pets')
  expect(await page.locator('.stock-row').count()).toBe(100)
  await page.emulateMedia({ media: 'print' })
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  expect(await page.locator('.stock-row:visible').count()).toBe(220)
  expect(await page.getByRole('searchbox').isVisible()).toBe(false)
  expect(await page.locator('.topbar').isVisible()).toBe(false)
  expect(await rowOf(page, 1n).getByRole('checkbox').isVisible()).toBe(false)
  const sheets = (await page.pdf()).toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0
  expect(sheets).toBeGreaterThan(1)
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  await page.emulateMedia({ media: 'screen' })
  await expectSoon(() => page.locator('.stock-row').count(), 100)
})

test('a toast never covers a row, "Not saved" is whole, and no row sticks out of the rounded table at 200 %', async () => {
  const page = await shop.signedIn({ viewport: PHONE, provokes: [409] })
  await shows(page, 8n, 10)
  await goToRow(page, 8n)
  await page.keyboard.type('-99')
  await page.keyboard.press('Enter')
  const outcome = rowOf(page, 8n).getByText('Not saved: −99.', { exact: true })
  await outcome.waitFor()
  for (const width of [360, 390]) {
    await resize(page, { width, height: 844 })
    expect(await outcome.evaluate(isWhole)).toBe(true)
  }
  // The reason may be cut off in the row.
  await page.locator('.toast').getByText('There were not enough to take 99.').waitFor()
  const bottomOfMain = await page.locator('main').evaluate((main) => main.getBoundingClientRect().bottom)
  expect((await page.locator('.toast').boundingBox())?.y).toBeGreaterThanOrEqual(bottomOfMain)
  await page.getByRole('button', { name: /^Leave it/ }).click()

  // A window of 1280 × 800 pixels at 200 %.
  await resize(page, { width: 640, height: 400 })
  const corner = await page.locator('.stock-view__table').evaluate((table) => {
    const { left, top } = table.getBoundingClientRect()
    const main = document.querySelector('main')
    main?.scrollBy(0, top - 200)
    const after = table.getBoundingClientRect()
    return table.contains(document.elementFromPoint(left + 1.5, after.top + 1.5))
  })
  expect(corner).toBe(false)
})
