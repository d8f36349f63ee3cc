import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { makeOrder } from '../support/orders.ts'
import { petsNumbered } from '../support/pets.ts'
import { useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'

const shop = useShop({ pets: petsNumbered(20, () => ({ quantity: 100 })) })

const tile = (page: Page, name: string) => page.locator('.tile', { hasText: name })
const tileText = async (page: Page, name: string) =>
  (await tile(page, name).innerText()).replaceAll(/\s+/g, ' ')
const rowsOf = (page: Page, name: string) =>
  page.getByRole('list', { name, exact: true }).getByRole('listitem')

const adjust = (reason: string, petId: number, delta: number) =>
  shop.send('POST', '/inventory/adjustments', { reason, changes: [{ petId, delta }] })

test('sales and deliveries are counted as they happen, drawn by day, and lead to the place to act', async () => {
  await adjust('sold', 1, -30)
  const page = await shop.signedIn({ path: '/#/overview' })
  await expectSoon(() => tileText(page, 'Sold today'), 'Sold today 30 0 yesterday')
  await adjust('sold', 2, -12)
  await adjust('received', 3, 40)
  // A return and a correction are neither sold nor received.
  await adjust('corrected', 3, -5)
  await expectSoon(() => tileText(page, 'Sold today'), 'Sold today 42 0 yesterday')
  await expectSoon(() => tileText(page, 'Sold in 7 days'), 'Sold in 7 days 42 0 in the 7 days before')
  await expectSoon(() => tileText(page, 'Received in 7 days'), 'Received in 7 days 40 40 today')
  const table = page.getByRole('table', { name: 'Units per day' })
  expect(await table.getByRole('row').last().getByRole('cell').allInnerTexts()).toEqual(['42', '40'])
  expect(await table.getByRole('row').count()).toBe(15)
  const movements = page.getByRole('table', { name: 'Movements' })
  const rows = movements.locator('tbody').getByRole('row')
  const cells = async () => (await rows.allInnerTexts()).map((text) => text.split(/\s*\t\s*/))
  await expectSoon(cells, [
    ['Pet number 1', '30', '0', '0', '0', '0'],
    ['Pet number 2', '12', '0', '0', '0', '0'],
    ['Pet number 3', '0', '0', '40', '0', '-5'],
  ])
  // Units that come back are no longer sold.
  const [sale] = (await shop.service.call('GET', '/inventory/adjustments?petId=2&reason=sold')).json as {
    readonly id: number
  }[]
  await shop.send('POST', `/inventory/adjustments/${sale?.id}/reverse`, { reason: 'returned' })
  await expectSoon(() => tileText(page, 'Sold today'), 'Sold today 30 0 yesterday')
  await page.getByRole('button', { name: 'By person' }).click()
  await expectSoon(cells, [['enterprise key', '42', '12', '40', '0', '-5']])
  await page.getByRole('button', { name: 'Yesterday' }).click()
  await page.getByText('Nothing came in or went out.').waitFor()
  await tile(page, 'Received in 7 days').getByRole('link').click()
  await page.waitForFunction(() => location.hash === '#/activity?reason=received')
})

test('overdue orders and holds that expire soon or have expired are listed, and leave when they are done', async () => {
  const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString()
  const shipped = (petId: number, shipDate: string) => makeOrder(shop, { petId, quantity: 1, shipDate })
  const overdue = await shipped(4, days(-3))
  await shipped(5, days(5))
  await makeOrder(shop, { petId: 6, quantity: 2, holdSeconds: 1_800 })
  const page = await shop.signedIn({ path: '/#/overview' })
  await expectSoon(() => tileText(page, 'Orders due'), 'Orders due 1 1 overdue')
  await expectSoon(() => tileText(page, 'Holds that'), 'Holds that expire soon 1 Within 24 hours')
  const rows = rowsOf(page, 'Orders that need you')
  await rows.getByText('Pet number 4').waitFor()
  expect(await rows.allInnerTexts()).toEqual([
    expect.stringMatching(/^1 × Pet number 4\s+Overdue/),
    expect.stringMatching(/^2 × Pet number 6\s+Expires in \d+ min/),
  ])
  await shop.service.call('DELETE', `/store/orders/${overdue}`)
  await makeOrder(shop, { petId: 9, quantity: 1, holdSeconds: 1 })
  await rows.filter({ hasText: 'Pet number 9' }).filter({ hasText: 'Hold expired' }).waitFor()
  expect(await rows.count()).toBe(2)
  await page.getByRole('link', { name: 'All orders' }).click()
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
})

test('pets with too few units for their orders or a week at the current pace are listed, and lead to the pet and back', async () => {
  // 84 in 4 weeks are 3 a day, so 16 last for 5 days.
  await adjust('sold', 7, -84)
  const page = await shop.signedIn({ path: '/#/overview' })
  const rows = rowsOf(page, 'Runs out soon')
  await rows.getByText('Pet number 7').waitFor()
  expect(await rows.first().innerText()).toMatch(/^Pet number 7\s+5 d · 16 free · 21 a week/)
  // Reserved units cannot be sold.
  await makeOrder(shop, { petId: 7, quantity: 16 })
  await rows.first().getByText('Nothing free · 21 a week').waitFor()
  await expectSoon(() => tileText(page, 'Low stock'), 'Low stock 0 1 sold out')
  await adjust('lost', 7, -2)
  await rowsOf(page, 'Too few for their orders').getByText('2 too few').waitFor()
  await rowsOf(page, 'Too few for their orders').getByRole('link').click()
  await page.getByRole('heading', { level: 1, name: 'Pet number 7' }).waitFor()
  await page.getByRole('link', { name: 'Back to Overview' }).click()
  await page.getByRole('link', { name: 'Reorder list' }).click()
  await page.getByRole('heading', { level: 1, name: 'Low stock' }).waitFor()
})

test('the plan usage is for administrators, and follows the requests of all devices', async () => {
  const plain = await shop.service.createKey('free', { permissions: ['stock'] })
  const other = await shop.signedIn({ path: '/#/overview', key: plain.secret })
  await tile(other, 'Sold today').waitFor()
  expect(await other.getByText('Plan usage').count()).toBe(0)

  const { secret } = await shop.service.createKey('free', { permissions: ['stock', 'keys'] })
  const page = await shop.signedIn({ path: '/#/overview', key: secret })
  const minute = page.locator('.limit-meter', { hasText: 'This minute' })
  const day = page.locator('.limit-meter', { hasText: 'This day' })
  const used = async () => Number(/(\d+) of 1,000 used/.exec(await day.innerText())?.[1])
  await minute.getByText(/of 60 used/).waitFor()
  const before = await used()
  for (let count = 0; count < 20; count++) await shop.service.call('GET', '/inventory/1', { key: secret })
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await expectSoon(async () => (await used()) >= before + 20, true)
})

test('the figures come back by themselves after an outage', async () => {
  const page = await shop.signedIn({ path: '/#/orders', provokes: [503] })
  await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' })
  await page.route('**/v1/**', (route) => route.fulfill({ status: 503, body: '{}' }))
  await page.getByRole('link', { name: 'Overview' }).click()
  const retry = page.getByRole('button', { name: 'Try again' })
  await retry.first().waitFor()
  await page.unroute('**/v1/**')
  for (const name of ['Sold today', 'Received in 7 days', 'Orders due'])
    await tile(page, name).locator('.skeleton').waitFor({ state: 'detached' })
  await page.locator('.limit-meter').first().waitFor()
  await expectSoon(() => retry.count(), 0)
})

test('the reorder file has all low pets, also those that the list has not loaded', async () => {
  await shop.send('PATCH', '/categories/1', { lowStockAt: 500 })
  const page = await shop.signedIn({ path: '/#/overview' })
  await page.route('**/inventory/search?*limit=500*', (route) =>
    route.continue({ url: route.request().url().replace('limit=500', 'limit=3') }),
  )
  await page.getByRole('link', { name: 'Low stock', exact: true }).first().click()
  await page.getByText('The 3 with the fewest free').waitFor()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const text = await Bun.file(await (await downloading).path()).text()
  expect(text.trim().split('\r\n')).toHaveLength(1 + 20)
})
