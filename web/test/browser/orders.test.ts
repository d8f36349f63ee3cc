import { describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { focused } from '../support/layout.ts'
import { makeOrder, type OrderDraft, orderRow, stateOf } from '../support/orders.ts'
import { petsNamed } from '../support/pets.ts'
import { useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'
import { rowOf, shows } from '../support/stock-table.ts'

const shop = useShop({
  pets: petsNamed('Biscuit', 'Mittens', 'Goldie', 'Coco', 'Pebbles', 'Ruby', 'Shadow', 'Olive', 'Ziggy'),
})
const order = (petId: number, quantity: number, more: Partial<OrderDraft> = {}) =>
  makeOrder(shop, { petId, quantity, ...more })
const button = (row: Locator, name: RegExp) => row.getByRole('button', { name })
const isNow = (row: Locator, state: string) =>
  row.locator('.badge').getByText(state, { exact: true }).waitFor()
const toast = (page: Page, text: string | RegExp) => page.locator('.toast').getByText(text).waitFor()
const reserved = (page: Page, petId: bigint, words: string) =>
  rowOf(page, petId).locator('.reserved').getByText(words).waitFor()
test('by keys alone: to the orders, complete one after a question, and the stock follows', async () => {
  const id = await order(1, 2)
  const page = await shop.signedIn()
  await reserved(page, 1n, '8 free, 2 reserved')
  const link = page.getByRole('link', { name: 'Orders' })
  await link.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  expect(await page.title()).toBe('Orders · Petstore')
  expect(await link.getAttribute('aria-current')).toBe('page')
  const row = orderRow(page, id)
  await row.getByText(/^Made .* by enterprise key$/).waitFor()
  await button(row, /^Complete/).focus()
  await page.keyboard.press('Enter')
  await row.getByText('Take 2 out of the stock?').waitFor()
  await axe(page)
  await page.keyboard.press('Escape')
  expect(await stateOf(shop, id)).toBe('open')
  await button(row, /^Complete/).focus()
  await page.keyboard.press('Enter')
  await row.getByText('Take 2 out of the stock?').waitFor()
  await page.keyboard.press('Enter')
  await toast(page, /is complete: 2 × Biscuit are taken out of the stock/)
  await page.getByText('No open orders').waitFor()
  expect(await stateOf(shop, id)).toBe('complete')
  await expectSoon(() => focused(page), 'Orders')
  await page.getByRole('button', { name: 'Complete', exact: true }).click()
  await isNow(row, 'Complete')
  expect(await row.getByRole('button').allInnerTexts()).toEqual(['Return…'])
  await page.getByRole('link', { name: 'Stock', exact: true }).click()
  await shows(page, 1n, 8)
  await rowOf(page, 1n).locator('.reserved').waitFor({ state: 'detached' })
})

test('an order is cancelled after a question, and its units are free again', async () => {
  const id = await order(2, 3)
  const page = await shop.signedIn({ path: '/#/orders' })
  const row = orderRow(page, id)
  await button(row, /^Cancel/).click()
  await row.getByText('Reserve 3 no longer?').waitFor()
  await button(row, /^Keep it/).click()
  expect(await stateOf(shop, id)).toBe('open')
  await button(row, /^Cancel/).click()
  await button(row, /^Yes, cancel/).click()
  await toast(page, /is cancelled: 3 × Mittens are no longer reserved/)
  await row.waitFor({ state: 'detached' })
  expect(await stateOf(shop, id)).toBe('cancelled')
})

test('a closed order shows who closed it, also once that person is removed', async () => {
  const id = await order(8, 1, { customer: 'Ms Jones' })
  const anna = await shop.service.createKey('pro', { name: 'Anna' })
  await shop.send('DELETE', `/store/orders/${id}`, undefined, anna.secret)
  await shop.send('DELETE', `/keys/${anna.id}`)
  const page = await shop.signedIn({ path: '/#/orders' })
  await page.getByRole('button', { name: 'Cancelled', exact: true }).click()
  await orderRow(page, id)
    .getByText(/^Cancelled .* by Anna$/)
    .waitFor()
})

describe('the page says what somebody else did in the meantime', () => {
  test.each([
    ['completed', 'DELETE', /^Cancel/, 'Somebody else already completed it. You changed nothing.'],
    ['cancelled', 'PATCH', /^Complete/, 'Somebody else already cancelled it. Nothing was taken'],
    ['completed', 'PATCH', /^Complete/, 'Somebody else already completed it. You changed nothing.'],
  ] as const)('it was %s before the %s', async (what, method, action, words) => {
    await shop.setElsewhere(3n, 10)
    const id = await order(3, 1)
    const page = await shop.signedIn({ path: '/#/orders', provokes: [409] })
    await page.route(/\/store\/orders\/\d+$/, async (route) => {
      if (route.request().method() === method) {
        if (what === 'completed') await shop.send('PATCH', `/store/orders/${id}`, { complete: true })
        else await shop.send('DELETE', `/store/orders/${id}`)
      }
      await route.continue()
    })
    const row = orderRow(page, id)
    await button(row, action).click()
    await button(row, /^Yes/).click()
    await toast(page, words)
    await row.waitFor({ state: 'detached' })
    expect(await page.getByText('is complete:').count()).toBe(0)
    expect(await shop.inStock(3n)).toBe(what === 'completed' ? 9 : 10)
  })

  test('if the stock is below the reserved units, the row is marked and the order cannot be completed', async () => {
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
    await row.getByText('Coco: only 1 left. Correct the stock, or change the order.').waitFor()
    expect(await stateOf(shop, id)).toBe('open')
  })
})

test('the question before completing does not move the columns, and an overdue order stands out', async () => {
  const late = await order(9, 1, { shipDate: '2026-01-05T10:00:00Z' })
  const page = await shop.signedIn({ path: '/#/orders' })
  const row = orderRow(page, late)
  await isNow(row, 'Overdue')
  await row.getByText('Was due').waitFor()
  const columns = () =>
    row.evaluate((element) =>
      ['lines', 'id', 'state', 'times', 'actions'].map((name) => {
        const { left, width } = element.querySelector(`.order__${name}`)?.getBoundingClientRect() ?? {}
        return [name, left, width]
      }),
    )
  const before = await columns()
  await button(row, /^Complete/).click()
  await row.getByText('Take 1 out of the stock?').waitFor()
  expect(await columns()).toEqual(before)
  await page.keyboard.press('Escape')
  await button(row, /^Cancel/).click()
  await button(row, /^Yes/).click()
  await row.waitFor({ state: 'detached' })
})

test('a hold counts down, and shows when it has expired', async () => {
  const later = await order(5, 1, { holdSeconds: 7_200 })
  const page = await shop.signedIn({ path: '/#/orders' })
  await page.getByText('Live', { exact: true }).waitFor()
  const left = orderRow(page, later).locator('.order__left')
  const seen = await left.innerText()
  expect(seen).toMatch(/^[12]:\d\d:\d\d left$/)
  await expectSoon(async () => (await left.innerText()) !== seen, true)
  const id = await order(5, 1, { holdSeconds: 5 })
  await isNow(orderRow(page, id), 'Held')
  await orderRow(page, id).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Expired', exact: true }).click()
  // A payment that comes too late can be honoured, because nobody else has taken the units.
  await button(orderRow(page, id), /^Complete/).click()
  await orderRow(page, id).getByText('Its hold has expired. Take 1 out of the stock?').waitFor()
  await button(orderRow(page, id), /^Yes/).click()
  await toast(page, /is complete: 1 × Pebbles is taken out of the stock/)
  expect(await stateOf(shop, id)).toBe('complete')
})

test('an order of several pets is changed, made firm and completed, and a part of it comes back', async () => {
  await shop.setElsewhere(5n, 10)
  await shop.setElsewhere(7n, 3)
  const id = await makeOrder(shop, {
    lines: [
      { petId: 5, quantity: 2 },
      { petId: 7, quantity: 1 },
    ],
    holdSeconds: 3_600,
    customer: 'Ada',
    reference: 'cart-5',
  })
  const page = await shop.signedIn({ path: '/#/orders', provokes: [409] })
  await page.getByRole('searchbox').fill('cart-5')
  const row = orderRow(page, id)
  await isNow(row, 'Held')
  await button(row, /^Change/).click()
  const dialog = page.getByRole('dialog', { name: `Change order ${id}` })
  await axe(page)
  await dialog.getByLabel('Shadow').fill('4')
  await dialog.getByLabel('Keep it').selectOption('No time limit')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('alert').getByText('Shadow: only 2 left.').waitFor()
  await dialog.getByLabel('Shadow').fill('3')
  await dialog.getByLabel('Pebbles').fill('0')
  await dialog.getByRole('combobox', { name: 'Add a pet' }).fill('goldie')
  await dialog.getByRole('option', { name: /^Goldie/ }).click()
  await dialog.getByLabel('Customer').fill('Ada Lovelace')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await isNow(row, 'Open')
  await row.getByText('Ada Lovelace').waitFor()
  expect(await shop.send('GET', `/store/orders/${id}`)).toMatchObject({
    lines: [
      { petId: 3, quantity: 1 },
      { petId: 7, quantity: 3 },
    ],
    customer: 'Ada Lovelace',
  })
  const inStock = await shop.inStock(3n)
  await button(row, /^Complete/).click()
  await button(row, /^Yes/).click()
  await toast(page, /is complete: 1 × Goldie, 3 × Shadow are taken out of the stock/)
  expect([await shop.inStock(3n), await shop.inStock(7n)]).toEqual([inStock - 1, 0])
  await page.getByRole('searchbox').fill(String(id))
  await button(row, /^Return/).click()
  await page.getByLabel('Take back Shadow').fill('2')
  await page.getByRole('button', { name: 'Return 2 pieces' }).click()
  await row.getByText('2 returned').waitFor()
  expect(await shop.inStock(7n)).toBe(2)
})

test('the search finds an order in any state by its number, and orders of one state by customer and pet', async () => {
  const done = await order(6, 1)
  await shop.send('DELETE', `/store/orders/${done}`)
  const open = await order(6, 2, { customer: 'Anna Smith, 555 0134', note: 'Calls before noon' })
  const page = await shop.signedIn({ path: '/#/orders', provokes: [404] })
  const search = page.getByRole('searchbox')
  await orderRow(page, open).getByText('Anna Smith, 555 0134').waitFor()
  await orderRow(page, open).getByText('Calls before noon').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type(String(done))
  await isNow(orderRow(page, done), 'Cancelled')
  for (const query of [String(open), `#${open}`, 'SMITH, A', '5550134']) {
    await search.fill('no such order')
    await page.getByText('Nothing found', { exact: true }).waitFor()
    await search.fill(query)
    await orderRow(page, open).waitFor()
  }
  await search.fill('')
  await page.getByRole('combobox', { name: 'Pet' }).fill('ruby')
  await page.getByRole('option', { name: /^Ruby/ }).click()
  // A new order appears only if it matches.
  const stranger = await order(7, 1)
  const another = await order(6, 1)
  await orderRow(page, another).waitFor()
  expect(await orderRow(page, stranger).count()).toBe(0)
})

test('many orders load page by page, and new ones appear on the page that is loaded', async () => {
  await shop.setElsewhere(8n, 1_000)
  await Promise.all(Array.from({ length: 105 }, () => order(8, 1)))
  const page = await shop.signedIn({ path: '/#/orders' })
  await page.getByRole('combobox', { name: 'Pet' }).fill('olive')
  await page.getByRole('option', { name: /^Olive/ }).click()
  await page.getByText('The first 100 open orders, oldest first', { exact: true }).waitFor()
  const latest = await order(8, 1)
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByText('106 found', { exact: true }).waitFor()
  await orderRow(page, latest).waitFor()
  expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
  const next = await order(8, 1)
  await orderRow(page, next).waitFor()
})

test('a key without the permission for orders gets no buttons', async () => {
  const id = await order(9, 1)
  const { secret } = await shop.service.createKey('enterprise', { permissions: ['stock'] })
  const page = await shop.signedIn({ path: '/#/orders', key: secret })
  await page.getByRole('combobox', { name: 'Pet' }).fill('ziggy')
  await page.getByRole('option', { name: /^Ziggy/ }).click()
  await orderRow(page, id).waitFor()
  expect(await orderRow(page, id).getByRole('button').count()).toBe(0)
  await orderRow(page, id).getByRole('link', { name: 'Ziggy' }).click()
  await page.getByRole('heading', { name: 'Open orders' }).waitFor()
  await orderRow(page, id).waitFor()
  expect(await page.getByRole('button', { name: /order|Complete|Cancel/i }).count()).toBe(0)
})

test('a pet shows its open orders and the free units, and can be reserved there, with and without a time limit', async () => {
  await shop.setElsewhere(7n, 5)
  const page = await shop.signedIn({ path: '/#/pets/7', provokes: [409] })
  const stock = page.locator('.pet-quantity')
  const reserve = () => page.getByRole('button', { name: 'Reserve', exact: true }).click()
  await page.getByRole('button', { name: 'Reserve for a customer…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Reserve for a customer' })
  await dialog.getByLabel('Shadow').fill('0')
  await reserve()
  await dialog.getByText('Enter how many, at least 1 of a pet.').waitFor()
  await dialog.getByLabel('Shadow').fill('9')
  await dialog.getByLabel('Customer').fill('Ada')
  await reserve()
  await dialog
    .getByRole('alert')
    .getByText(/^Shadow: only \d left\.$/)
    .waitFor()
  await dialog.getByLabel('Shadow').fill('2')
  await dialog.getByLabel('Keep it').selectOption('1 hour')
  await reserve()
  await page.locator('.order__left').waitFor()
  const { json } = await shop.service.call('GET', '/inventory/7/availability')
  const { reserved: taken, available } = json as { reserved: number; available: number }
  await stock.getByText(`${available} free, ${taken} reserved`).waitFor()
  const elsewhere = await order(7, 1)
  await orderRow(page, elsewhere).waitFor()
  await stock.getByText(`${available - 1} free, ${taken + 1} reserved`).waitFor()
  await shop.setElsewhere(7n, 1)
  await stock.getByText(`${taken + 1} reserved, ${taken} too many`).waitFor()
})
