import { describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { operatorOf } from '../../../server/test/support/operator.ts'
import { axe } from '../support/axe.ts'
import { makeOrder, type OrderDraft, orderRow, petsNamed, stateOf } from '../support/orders.ts'
import { BROWSER_TEST_MS, JSON_HEADERS, signIn, useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'
import { rowOf, shows } from '../support/stock-table.ts'

const shop = useShop({
  pets: petsNamed('Biscuit', 'Mittens', 'Goldie', 'Coco', 'Pebbles', 'Ruby', 'Shadow', 'Olive', 'Ziggy'),
})
const order = (petId: number, quantity: number, more: Partial<OrderDraft> = {}) =>
  makeOrder(shop.service, { petId, quantity, ...more })
const button = (row: Locator, name: RegExp) => row.getByRole('button', { name })
const isNow = (row: Locator, state: string) =>
  row.locator('.badge').getByText(state, { exact: true }).waitFor()
const toast = (page: Page, text: string | RegExp) => page.locator('.toast').getByText(text).waitFor()
const reserved = (page: Page, petId: bigint, words: string) =>
  rowOf(page, petId).locator('.reserved').getByText(words).waitFor()
const isFocusedInView = (row: Locator) =>
  row.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect()
    return document.activeElement === element && top >= 0 && bottom <= innerHeight
  })

test(
  'by keys alone: to the orders, complete one after a question, and the other browser sees it at once',
  async () => {
    const id = await order(1, 2)
    const page = await shop.signedIn()
    const other = await shop.signedIn()
    await reserved(other, 1n, '8 free, 2 reserved')
    const link = page.getByRole('link', { name: 'Orders' })
    await link.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
    expect(await page.title()).toBe('Orders · Petstore')
    expect(await link.getAttribute('aria-current')).toBe('page')
    const row = orderRow(page, id)
    await button(row, /^Complete/).focus()
    await page.keyboard.press('Enter')
    await row.getByText('Take 2 out of the stock?').waitFor()
    expect((await stateOf(shop.service, id)).state).toBe('open')
    await page.keyboard.press('Escape')
    await button(row, /^Complete/).focus()
    await page.keyboard.press('Enter')
    await row.getByText('Take 2 out of the stock?').waitFor()
    await page.keyboard.press('Enter')
    await isNow(row, 'Complete')
    await toast(page, /is complete: 2 × Biscuit are taken out of the stock/)
    expect(await row.getByRole('button').count()).toBe(0)
    expect((await stateOf(shop.service, id)).state).toBe('complete')
    await shows(other, 1n, 8)
    await rowOf(other, 1n).locator('.reserved').waitFor({ state: 'detached' })
    // The row stays in place until the user hides it.
    await page.getByText('0 open orders').waitFor()
    await page.getByRole('button', { name: 'Hide the order closed since' }).click()
    await page.getByText('No open orders').waitFor()
  },
  BROWSER_TEST_MS,
)

test(
  'an order is cancelled at once, and another order undoes that if enough units are free',
  async () => {
    const id = await order(2, 3)
    const page = await shop.signedIn({ path: '/#/orders', provokes: [409] })
    const row = orderRow(page, id)
    await button(row, /^Cancel/).click()
    await toast(page, /is cancelled: 3 × Mittens are no longer reserved/)
    await isNow(row, 'Cancelled')
    expect((await stateOf(shop.service, id)).state).toBe('cancelled')

    await shop.setElsewhere(2n, 2)
    await button(row, /^Order again/).click()
    await row.getByText('Only 2 can be ordered now, not 3.').waitFor()
    await axe(page)
    await shop.setElsewhere(2n, 10)
    await button(row, /^Order again/).click()
    const again = id + 1n
    await row.getByText(`Ordered again as #${again}`).waitFor()
    await toast(page, `Order ${again} is made: 3 × Mittens are reserved.`)
    await isNow(orderRow(page, again), 'Open')
    expect(await stateOf(shop.service, again)).toMatchObject({ petId: 2, quantity: 3, state: 'open' })
    await button(orderRow(page, again), /^Cancel/).click()
    await toast(page, /is cancelled/)
    // The toast offers the same.
    await page.locator('.toast').getByRole('button', { name: 'Order again' }).click()
    await orderRow(page, again + 1n).waitFor()
  },
  BROWSER_TEST_MS,
)

test(
  'an order shows who made and who closed it, also once that person is removed',
  async () => {
    const id = await order(8, 1, { customer: 'Ms Jones' })
    const { service } = shop
    const anna = await service.createKey('pro', { name: 'Anna' })
    const page = await shop.signedIn({ path: '/#/orders' })
    const row = orderRow(page, id)
    await row.getByText(/^Made .* by enterprise key$/).waitFor()
    await service.call('DELETE', `/store/orders/${id}`, { key: anna.secret })
    await operatorOf(service.store).revokeKey(anna.id, { at: service.now, actor: 'test' })
    await page.reload()
    await page.getByRole('button', { name: 'Cancelled', exact: true }).click()
    await orderRow(page, id)
      .getByText(/^Cancelled .* by Anna$/)
      .waitFor()
  },
  BROWSER_TEST_MS,
)

describe('the page says what somebody else did in the meantime', () => {
  /** Somebody else is a moment faster than the page. */
  async function overtaken(page: Page, method: string, act: () => Promise<void>): Promise<void> {
    await page.route(/\/store\/orders\/\d+$/, async (route) => {
      if (route.request().method() === method) await act()
      await route.continue()
    })
  }

  test(
    'of two people who complete one order, only one is told that it was taken out',
    async () => {
      await shop.setElsewhere(3n, 10)
      const id = await order(3, 1)
      const page = await shop.signedIn({ path: '/#/orders', provokes: [409] })
      await overtaken(page, 'PATCH', async () => {
        const body = '{"complete":true}'
        await shop.service.call('PATCH', `/store/orders/${id}`, { body, headers: JSON_HEADERS })
      })
      const row = orderRow(page, id)
      await button(row, /^Complete/).click()
      await button(row, /^Yes/).click()
      await toast(page, 'Somebody else already completed it. You changed nothing.')
      await isNow(row, 'Complete')
      expect(await page.getByText('taken out of the stock').count()).toBe(0)
      expect(await shop.inStock(3n)).toBe(9)
    },
    BROWSER_TEST_MS,
  )

  test.each([
    ['completed', 'DELETE', /^Cancel/, 'Somebody else already completed it. You changed nothing.'],
    ['cancelled', 'PATCH', /^Complete/, 'Somebody else already cancelled it. Nothing was taken'],
  ] as const)(
    'it was %s',
    async (what, method, action, words) => {
      const id = await order(3, 1)
      const page = await shop.page({ path: '/#/orders', provokes: [409] })
      const names = Promise.withResolvers<void>()
      await page.route('**/inventory/search?*', async (route) => {
        await names.promise
        await route.fallback()
      })
      await signIn(page, shop.service.key)
      await overtaken(page, method, async () => {
        const done = what === 'completed' ? { body: '{"complete":true}' } : {}
        const headers = { 'Content-Type': 'application/json' }
        const theirs = what === 'completed' ? 'PATCH' : 'DELETE'
        await shop.service.call(theirs, `/store/orders/${id}`, { ...done, headers })
      })
      const row = orderRow(page, id)
      await button(row, action).click()
      if (method === 'PATCH') await button(row, /^Yes/).click()
      await row.getByText(words).waitFor()
      await toast(page, words)
      await isNow(row, what === 'completed' ? 'Complete' : 'Cancelled')
      // The row stays when the names of the pets arrive.
      names.resolve()
      await row.getByText('Goldie').waitFor()
      await button(row, /^Close/).click()
      expect(await row.getByText(words).count()).toBe(0)
      await expectSoon(() => row.evaluate((element) => element === document.activeElement), true)
    },
    BROWSER_TEST_MS,
  )

  test(
    'if the stock is below the reserved units, the row is marked and the order cannot be completed',
    async () => {
      const id = await order(4, 5)
      await shop.setElsewhere(4n, 1)
      const page = await shop.signedIn({ viewport: { width: 1280, height: 800 }, provokes: [409] })
      await reserved(page, 4n, '5 reserved, 4 too many')
      const isWhole = ({ scrollWidth, clientWidth }: Element) => scrollWidth <= clientWidth
      expect(await page.locator('.reserved--short').first().evaluate(isWhole)).toBe(true)
      await page.getByRole('link', { name: 'Orders' }).click()
      const row = orderRow(page, id)
      await button(row, /^Complete/).click()
      await button(row, /^Yes/).click()
      await row
        .getByText('It takes 5, but only 1 is in stock. Correct the stock, or cancel the order.')
        .waitFor()
      expect((await stateOf(shop.service, id)).state).toBe('open')
      await axe(page)
    },
    BROWSER_TEST_MS,
  )
})

test(
  'the question before completing does not move the columns, and an overdue order stands out',
  async () => {
    const late = await order(9, 1, { shipDate: '2026-01-05T10:00:00Z' })
    const page = await shop.signedIn({ path: '/#/orders' })
    const row = orderRow(page, late)
    await isNow(row, 'Overdue')
    await row.getByText('Was due').waitFor()
    const columns = () =>
      row.evaluate((element) =>
        ['pet', 'quantity', 'id', 'state', 'times', 'actions'].map((name) => {
          const { left, width } = element.querySelector(`.order__${name}`)?.getBoundingClientRect() ?? {}
          return [name, left, width]
        }),
      )
    const before = await columns()
    await button(row, /^Complete/).click()
    await row.getByText('Take 1 out of the stock?').waitFor()
    expect(await columns()).toEqual(before)
    await axe(page)
    await page.keyboard.press('Escape')
    await button(row, /^Cancel/).click()
    await isNow(row, 'Cancelled')
  },
  BROWSER_TEST_MS,
)

test(
  'a hold counts down to zero, and then expires',
  async () => {
    const later = await order(5, 1, { holdSeconds: 7_200 })
    const page = await shop.signedIn({ path: '/#/orders' })
    await page.getByText('Live', { exact: true }).waitFor()
    await orderRow(page, later).waitFor()
    const seen = new Set<string>()
    let id = 0n
    // On a machine that hangs for seconds, a short hold ends before it is seen.
    for (const holdSeconds of [3, 20]) {
      id = await order(5, 1, { holdSeconds })
      const row = orderRow(page, id)
      await row.waitFor()
      for (const left = row.locator('.order__left'); (await left.count()) > 0; await Bun.sleep(100)) {
        for (const words of await left.allInnerTexts()) seen.add(words)
      }
      await isNow(row, 'Expired')
      if (seen.size > 1) break
    }
    expect(seen.size).toBeGreaterThan(1)
    for (const words of seen) expect(words).toMatch(/^(0:[012]\d left|ending)$/)
    // The test itself takes no more than its timeout of four minutes.
    expect(await orderRow(page, later).locator('.order__left').innerText()).toMatch(/^1:5[5-9]:\d\d left$/)
    await page.getByRole('button', { name: 'Held', exact: true }).click()
    await page.getByText('1 held order', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Expired', exact: true }).click()
    await orderRow(page, id).waitFor()
    await page.getByRole('link', { name: 'Stock', exact: true }).click()
    await reserved(page, 5n, '9 free, 1 reserved')
  },
  2 * BROWSER_TEST_MS,
)

test(
  'the search finds orders in all states by id and customer, and of one state by the pet’s name, id or barcode',
  async () => {
    const done = await order(6, 1)
    await shop.service.call('DELETE', `/store/orders/${done}`)
    const open = await order(6, 2, { customer: 'Anna Smith, 555 0134', note: 'Calls before noon' })
    const barcode = { headers: JSON_HEADERS, body: '{"barcode":"4006381333931"}' }
    await shop.service.call('PATCH', '/pets/6', barcode)
    const page = await shop.signedIn({ path: '/#/orders', provokes: [404] })
    const search = page.getByRole('searchbox')
    await orderRow(page, open).waitFor()
    await orderRow(page, open).getByText('Anna Smith, 555 0134').waitFor()
    await orderRow(page, open).getByText('Calls before noon').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(String(done))
    await isNow(orderRow(page, done), 'Cancelled')
    for (const query of [String(open), '4006381333931', 'SMITH, A', '5550134']) {
      await search.fill('no such order')
      await page.getByText('Nothing found', { exact: true }).waitFor()
      await search.fill(query)
      await orderRow(page, open).waitFor()
      expect(await orderRow(page, done).count()).toBe(0)
    }
    await search.fill('RUBY')
    await page.getByText('1 found', { exact: true }).waitFor()
    const cancelled = await order(6, 1, { customer: 'Lopez, Maria' })
    await shop.service.call('DELETE', `/store/orders/${cancelled}`)
    await search.fill('lopez')
    await isNow(orderRow(page, cancelled), 'Cancelled')
    await search.fill('ruby')
    await orderRow(page, open).waitFor()
    await search.fill('6')
    await orderRow(page, open).waitFor()
    await search.fill('no such pet')
    await page.getByText('Nothing found', { exact: true }).waitFor()
    // A new order appears only if it matches the search.
    await search.fill('ruby')
    await orderRow(page, open).waitFor()
    const stranger = await order(7, 1)
    const another = await order(6, 1)
    await orderRow(page, another).waitFor()
    expect(await orderRow(page, stranger).count()).toBe(0)
  },
  BROWSER_TEST_MS,
)

test(
  'many orders load page by page, and a new order beyond the last page waits for its page',
  async () => {
    await shop.setElsewhere(8n, 1_000)
    const ids: bigint[] = []
    for (let made = 0; made < 205; made++) ids.push(await order(8, 1))
    const page = await shop.signedIn({ path: '/#/orders' })
    await page.getByRole('searchbox').fill('olive')
    await page.getByText('100 found among the first 100', { exact: true }).waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const row = orderRow(page, ids[0] ?? 0n)
    const place = await row.boundingBox()
    const latest = await order(8, 1, { customer: 'Ada' })
    await page.getByText(`Order ${latest} for Ada arrived.`).waitFor({ state: 'attached' })
    const showNew = page.getByRole('button', { name: 'Show 1 new order' })
    await showNew.waitFor()
    expect(await row.boundingBox()).toEqual(place)
    await axe(page)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('200 found among the first 200', { exact: true }).waitFor()
    expect(await orderRow(page, latest).count()).toBe(0)
    expect(asked.filter((url) => url.includes('/store/orders'))).toHaveLength(1)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('206 found', { exact: true }).waitFor()
    await orderRow(page, latest).waitFor()
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)

    await showNew.click()
    expect(await isFocusedInView(orderRow(page, latest))).toBe(true)
    await showNew.waitFor({ state: 'detached' })
    // An order that is not among those that are loaded is searched for.
    await page.getByRole('searchbox').fill('')
    await page.getByText(/^The first 100 open orders/).waitFor()
    const [first, second] = [await order(8, 1), await order(8, 1)]
    await page.getByRole('button', { name: 'Show 2 new orders' }).waitFor()
    await shop.service.call('DELETE', `/store/orders/${first}`)
    await showNew.click()
    await orderRow(page, second).waitFor()
  },
  2 * BROWSER_TEST_MS,
)

test(
  'a key without the permission for orders gets no buttons',
  async () => {
    const id = await order(9, 1)
    const { secret } = await shop.service.createKey('enterprise', { permissions: ['stock'] })
    const page = await shop.signedIn({ path: '/#/orders', key: secret })
    await page.getByRole('searchbox').fill('ziggy')
    await orderRow(page, id).waitFor()
    expect(await orderRow(page, id).getByRole('button').count()).toBe(0)
    await orderRow(page, id).getByRole('link', { name: 'Ziggy' }).click()
    await page.getByRole('heading', { name: 'Open orders' }).waitFor()
    await orderRow(page, id).waitFor()
    expect(await page.getByRole('button', { name: /order|Complete|Cancel/i }).count()).toBe(0)
  },
  BROWSER_TEST_MS,
)

test(
  'a pet shows its open orders and the free units, and can be reserved there, with and without a time limit',
  async () => {
    await shop.setElsewhere(7n, 5)
    const page = await shop.signedIn({ path: '/#/pets/7', provokes: [409] })
    const stock = page.locator('.pet-quantity')
    const form = page.getByRole('textbox', { name: 'How many' })
    await form.fill('0')
    await page.keyboard.press('Enter')
    await page.getByText('Enter a whole number of 1 or more.').waitFor()
    await form.fill('2')
    await page.getByLabel('For how long').selectOption('1 hour')
    await page.getByRole('button', { name: 'Reserve', exact: true }).click()
    await page.locator('.order__left').waitFor()
    await form.fill('9')
    await page.getByRole('button', { name: 'Reserve', exact: true }).click()
    await page
      .getByRole('alert')
      .getByText(/^Only \d can be ordered now, not 9\.$/)
      .waitFor()
    await axe(page)
    const { json } = await shop.service.call('GET', '/inventory/7/availability')
    const { reserved: taken, available } = json as { reserved: number; available: number }
    await stock.getByText(`${available} free, ${taken} reserved`).waitFor()
    const elsewhere = await order(7, 1)
    await orderRow(page, elsewhere).waitFor()
    await stock.getByText(`${available - 1} free, ${taken + 1} reserved`).waitFor()
    await shop.setElsewhere(7n, 1)
    await stock.getByText(`${taken + 1} reserved, ${taken} too many`).waitFor()
  },
  BROWSER_TEST_MS,
)
