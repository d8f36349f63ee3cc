import { describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { PETS } from '../../../server/test/support/test-service.ts'
import { axe, axeInBothThemes } from '../support/axe.ts'
import { fits, PHONE, resize } from '../support/layout.ts'
import { keyField, type PageOptions, personMenu, signIn, useShop } from '../support/shop.ts'

const shop = useShop()
const BIG_ID = 9223372036854775807n

/** The opened form of an operation; every test of it has a page without problems, so none against the CSP. */
async function openForm(page: Page, operationId: string): Promise<Locator> {
  const operation = page.locator('.operation', { has: page.locator(`#${operationId}`) })
  await operation.locator('.try-it > summary').click()
  return operation.locator('form')
}

async function formOf(operationId: string, path: string, options: PageOptions & { key?: string } = {}) {
  const form = await openForm(await shop.page({ path, ...options }), operationId)
  await form.getByLabel('API key').fill(options.key ?? shop.service.key)
  return form
}

/** The status and the body of the response. */
async function send(form: Locator): Promise<readonly [status: string, body: string]> {
  await form.getByRole('button', { name: /^Send/ }).click()
  const status = form.getByRole('status').filter({ hasText: /\d ms/ })
  return [(await status.textContent()) ?? '', (await form.locator('[data-part=body]').textContent()) ?? '']
}

describe('the form of an operation', () => {
  test('sends and shows ids beyond 2^53 digit for digit', async () => {
    const form = await formOf('updateInventory', '/docs/inventory')
    await form.getByLabel('petId').fill('9007199254740993')
    await form.getByLabel('Body').fill('{"quantity": 70}')
    const [status, body] = await send(form)
    expect(status).toMatch(/^200 OK · \d+ ms$/)
    expect(body).toContain('"petId": 9007199254740993,')
    expect(await shop.inStock(9007199254740993n)).toBe(70)

    const list = await openForm(form.page(), 'listInventory')
    const [, all] = await send(list)
    for (const { id } of PETS) expect(all).toContain(`"petId": ${id},`)
    await list.getByText('Headers', { exact: true }).click()
    expect(await list.locator('[data-part=headers]').textContent()).toMatch(/^x-ratelimit-limit: 1000000$/m)
  })

  test('shows an error with a link to what to do, whatever was typed', async () => {
    const form = await formOf('updateInventory', '/docs/inventory', { provokes: [400, 401] })
    await form.getByLabel('Body').fill('{"quantity": ')
    const [status, body] = await send(form)
    expect(status).toContain('400 Bad Request')
    expect(body).toContain('the request body is not valid JSON')
    await form.getByLabel('API key').fill('pst_live_wrong')
    await form.getByRole('button', { name: /^Send/ }).click()
    await form.getByRole('link', { name: 'unauthorized' }).click()
    await form.page().waitForURL('**/docs/guides/errors#unauthorized')
  })

  test('sends nothing before Retry-After has passed', async () => {
    const { secret } = await shop.service.createKey('enterprise', { limits: { perMinute: 1, perDay: 9 } })
    await shop.service.call('GET', '/inventory', { key: secret })
    const form = await formOf('listCatalog', '/docs/pets', { key: secret, provokes: [429] })
    expect((await send(form))[0]).toMatch(/^429 .* you can send again in \d+ s · rate_limit_exceeded$/)
    expect(await form.getByRole('button', { name: /^Send/ }).isDisabled()).toBe(true)
  })

  test('follows the stream of events until it is stopped, and says that nothing answers', async () => {
    const form = await formOf('inventoryEvents', '/docs/inventory', { provokes: ['no connection'] })
    await form.getByRole('button', { name: 'Open the stream' }).click()
    const events = form.locator('[data-part=body]')
    await events.filter({ hasText: 'event: ready' }).waitFor()
    await shop.service.setQuantity(BIG_ID, '{"quantity": 3}')
    await events.filter({ hasText: `"petId":${BIG_ID},` }).waitFor()
    await axe(form.page())
    await form.getByRole('button', { name: 'Stop' }).click()
    await form.getByText('Stopped').waitFor()
    await form.page().context().setOffline(true)
    await form.getByRole('button', { name: 'Open the stream' }).click()
    await form.getByText(/^No response: /).waitFor()
  })

  test('uses the key of the staff page only after a click, and forgets it when that person signs out', async () => {
    const page = await shop.page({ provokes: [401] })
    await keyField(page)
    await page.getByLabel('Remember the key').check()
    await signIn(page, shop.service.key)
    const docs = await page.context().newPage()
    await docs.goto(`${shop.service.address}/docs/store`)
    const form = await openForm(docs, 'listOrders')
    expect(await form.getByLabel('API key').inputValue()).toBe('')
    expect((await send(form))[0]).toContain('401 Unauthorized')
    await form.getByRole('button', { name: 'Use the key of the staff page' }).click()
    expect(await form.getByLabel('API key').inputValue()).toBe(shop.service.key)
    expect((await send(form))[0]).toContain('200 OK')
    await personMenu(page).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await docs.waitForFunction(
      () => document.querySelector<HTMLInputElement>('input[name=key]')?.value === '',
    )
  })

  test('never makes a typed key the key of the staff page', async () => {
    const form = await formOf('listOrders', '/docs/store', { key: 'pst_live_wrong' })
    await form.page().reload()
    const again = await openForm(form.page(), 'getOrder')
    expect(await again.getByLabel('API key').inputValue()).toBe('pst_live_wrong')
    expect(await form.page().evaluate(() => localStorage.length)).toBe(0)
    await form.page().goto(shop.service.address)
    await keyField(form.page())
  })
})

test('the chosen language holds for all samples, which name this service and are copied as they stand', async () => {
  const page = await shop.page({ path: '/docs/store' })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.locator('#createOrder').scrollIntoViewIfNeeded()
  await page.getByRole('radio', { name: 'Python' }).first().check()
  await page.goto(`${shop.service.address}/docs/guides/never-oversell`)
  const sample = page.getByRole('group', { name: 'Hold a unit' })
  expect(await sample.getByRole('radio', { name: 'Python' }).isChecked()).toBe(true)
  await sample.getByRole('button', { name: 'Copy' }).click()
  await sample.getByText('Copied').waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toContain(`store = Petstore('${shop.service.address}/v1', 'YOUR_API_KEY')`)
  expect(copied).not.toContain('curl')
})

test.each([
  ['/docs#/operations/createOrder/409', '/docs/store#createOrder'],
  ['/docs#/guides/errors/insufficient_stock', '/docs/guides/errors'],
  ['/docs#/schemas/Order', '/docs/records#Order'],
])('the former address %s leads to %s', async (former, address) => {
  const page = await shop.page({ path: former })
  await page.waitForURL(shop.service.address + address)
})

test('an address of a part unfolds it below the bar; the menu of a phone closes once a part is chosen', async () => {
  const page = await shop.page({ path: '/docs/store#createOrder.409', viewport: PHONE })
  const row = page.locator('[id="createOrder.409"]')
  await row.getByRole('link', { name: 'insufficient_stock' }).waitFor()
  const bar = await page.getByRole('banner').boundingBox()
  expect((await row.boundingBox())?.y).toBeGreaterThanOrEqual(bar?.height ?? Number.NaN)
  await page.getByRole('button', { name: 'Menu' }).click()
  await page
    .getByRole('navigation', { name: 'Reference' })
    .getByRole('link', { name: /^Cancel an order/ })
    .click()
  await page.waitForURL('**/docs/store#cancelOrder')
  await page.getByRole('navigation', { name: 'Reference' }).waitFor({ state: 'hidden' })
})

test('the theme is chosen here for every page', async () => {
  const page = await shop.page({ path: '/docs' })
  await page.getByRole('button', { name: 'Theme: system' }).click()
  await page.getByRole('button', { name: 'Theme: light' }).click()
  await page.goto(`${shop.service.address}/docs/guides/limits`)
  await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
})

/** Together they have everything that a page can have. */
const KINDS_OF_PAGES = [
  '/docs',
  '/docs/guides/webhooks',
  '/docs/guides/errors',
  '/docs/store',
  '/docs/limits',
]

test.each(KINDS_OF_PAGES)('axe-core finds nothing serious on %s, which fits a phone', async (path) => {
  const page = await shop.page({ path })
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true
  })
  await axeInBothThemes(page)
  await resize(page, PHONE)
  await axe(page)
  await fits(page)
})
