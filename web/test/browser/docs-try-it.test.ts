import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { addPets } from '../../../server/test/support/add-pets.ts'
import { PETS } from '../../../server/test/support/test-service.ts'
import { axe } from '../support/axe.ts'
import { keyField, type PageOptions, personMenu, signIn, useShop } from '../support/shop.ts'
import { rowOf } from '../support/stock-table.ts'

const shop = useShop()

/** The page of one operation, with a key entered. */
async function operationPage(id: string, options: PageOptions & { key?: string } = {}): Promise<Page> {
  const page = await shop.page({ path: `/docs#/operations/${id}`, ...options })
  await page.getByLabel('API key').fill(options.key ?? shop.service.key)
  return page
}

async function send(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Send/ }).click()
  await page.locator('.exchange[aria-busy=false]').waitFor()
}

function status(page: Page): Promise<string | null> {
  return page.locator('.exchange__facts .status-tag').textContent()
}

function body(page: Page): Promise<string | null> {
  return page.getByRole('region', { name: 'Body of the answer' }).textContent()
}

describe('a try', () => {
  test('lists the inventory with the key entered, ids beyond 2^53 digit for digit, and all headers', async () => {
    const page = await operationPage('listInventory')
    await send(page)
    expect(await status(page)).toBe('200')
    const text = (await body(page)) ?? ''
    for (const { id } of PETS) expect(text).toContain(`{ "petId": ${id}, `)
    expect(await page.locator('.exchange__facts').textContent()).toMatch(/\d+ ms\d+ B$/)
    await page.locator('.exchange__headers > summary').click()
    const names = await page.locator('.exchange__headers dt').allTextContents()
    expect(names).toEqual(
      expect.arrayContaining(['ETag', 'X-RateLimit-Limit', 'X-RateLimit-Reset', 'X-Request-Id']),
    )
    expect(await page.getByRole('meter', { name: 'Limit of this key' }).getAttribute('max')).toBe('1000000')
  })

  test('with a wrong key says what 401 means, and without one that it is missing', async () => {
    const page = await operationPage('listInventory', { key: 'pst_live_wrong', provokes: [401] })
    await send(page)
    expect(await status(page)).toBe('401')
    expect(await page.getByRole('status').textContent()).toContain('The API key is missing or invalid')
    await page.getByLabel('API key').fill('')
    await send(page)
    await page.getByText('The key is missing').waitFor()
  })

  test('sets the stock of a pet, explains 412, and sends even what is not JSON, to see the answer', async () => {
    const page = await operationPage('updateInventory', { provokes: [400, 412] })
    await page.getByLabel('petId path').fill('9007199254740993')
    await page.getByLabel('Body application/json').fill('{"quantity": 70}')
    await send(page)
    expect(await body(page)).toContain('"petId": 9007199254740993')
    expect((await shop.service.call('GET', '/inventory/9007199254740993')).item.quantity).toBe(70)

    await page.getByLabel('If-Match header').fill('"7-available"')
    await send(page)
    await page.locator('.exchange strong', { hasText: 'The record is not in the state' }).waitFor()
    expect(await status(page)).toBe('412')

    await page.getByLabel('Body application/json').fill('{"quantity": ')
    await page.getByText('This is not JSON yet').waitFor()
    await send(page)
    expect(await status(page)).toBe('400')
    expect(await body(page)).toContain('the request body is not valid JSON')
  })

  test('over the limit counts down, and sends nothing meanwhile', async () => {
    const { secret } = await shop.service.createKey('enterprise', { limits: { perMinute: 1, perDay: 9 } })
    await shop.service.call('GET', '/inventory', { key: secret })
    const page = await operationPage('listCatalog', { key: secret, provokes: [429] })
    await send(page)
    expect(await page.getByRole('status').textContent()).toContain('is exceeded. Wait for Retry-After')
    const wait = page.getByRole('button', { name: /^Wait \d+ s$/ })
    const before = await wait.textContent()
    expect(await wait.isDisabled()).toBe(true)
    await page.getByText(/^You can send again in \d+ s\.$/).waitFor()
    await page.waitForFunction(
      (text) => document.querySelector('.try-it__actions button')?.textContent !== text,
      before,
    )
    expect(seconds(await wait.textContent())).toBeLessThan(seconds(before))
  })

  test('explains a database that is away, and a service that cannot be reached', async () => {
    const page = await operationPage('listCatalog', { provokes: [503, 'no connection'] })
    await shop.service.run('ALTER TABLE pets RENAME TO away')
    await send(page)
    await shop.service.run('ALTER TABLE away RENAME TO pets')
    expect(await page.getByRole('status').textContent()).toContain('The service cannot answer now')
    await page.context().setOffline(true)
    await send(page)
    await page.getByText('The service cannot be reached').waitFor()
    await page.context().setOffline(false)
    await send(page)
    expect(await status(page)).toBe('200')
  })

  test('follows the stream of events until it is stopped', async () => {
    const page = await operationPage('inventoryEvents')
    await page.getByRole('button', { name: 'Open the stream' }).click()
    const events = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem')
    await events.filter({ hasText: 'ready' }).waitFor()
    await shop.service.setQuantity(9223372036854775807n, '{"quantity": 3}')
    await events.filter({ hasText: '"petId": 9223372036854775807' }).waitFor()
    expect(await events.first().textContent()).toContain('"after": 3')
    await axe(page)

    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('stopped at').waitFor()
    await shop.service.setQuantity(9223372036854775807n, '{"quantity": 4}')
    await page.getByRole('button', { name: 'Open the stream' }).click()
    await events.filter({ hasText: 'ready' }).waitFor()
    expect(await events.count()).toBe(1)
  })

  test('shows the beginning of a large answer, and says how large it is', async () => {
    const many = Array.from({ length: 1_500 }, (_, index) => ({
      id: BigInt(1_000 + index),
      name: `Pet ${index}`,
      categoryId: 1n,
      status: 'available' as const,
      quantity: 1,
    }))
    await addPets(shop.service.store, many)
    const page = await operationPage('listInventory')
    await send(page)
    const notice = await page.locator('.exchange__cut').textContent()
    const { text } = await shop.service.call('GET', '/inventory')
    expect(notice).toContain(`the first 20,000 of ${text.length.toLocaleString('en-US')} characters`)
    expect(((await body(page)) ?? '').length).toBeLessThan(40_000)
  })
})

describe('the samples and the key', () => {
  test('samples follow what is filled in, never show the key, and are copied as they stand', async () => {
    const page = await operationPage('getInventoryItem')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByLabel('petId path').fill('9007199254740993')
    const samples = page.getByRole('region', { name: 'Request samples' })
    await samples.getByRole('button', { name: 'TypeScript client' }).click()
    const code = samples.getByRole('region', { name: 'TypeScript client sample' })
    expect(await code.textContent()).toContain('client.inventory.get(9007199254740993n)')
    await samples.getByRole('button', { name: 'Copy' }).click()
    await samples.getByText('Copied').waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toContain('inventory.get(9007199254740993n)')
    await samples.getByRole('button', { name: 'Python' }).click()
    const python = await samples.getByRole('region', { name: 'Python sample' }).textContent()
    expect(python).toContain("/v1/inventory/9007199254740993',")
    expect(await page.locator('main').textContent()).not.toContain(shop.service.key)
    expect(page.url()).not.toContain(shop.service.key)
    // The language that was chosen holds for the guides as well.
    for (const guide of [
      'change-stock-safely',
      'never-oversell',
      'keep-the-catalogue',
      'events',
      'ids-and-json',
    ]) {
      await page.evaluate((id) => location.assign(`#/guides/${id}`), guide)
      await page.locator(`.docs-nav__link[href="#/guides/${guide}"][aria-current]`).waitFor()
      const tabs = page.getByRole('group', { name: 'Language of the sample' })
      const inPython = tabs.getByRole('button', { name: 'Python', pressed: true })
      expect([guide, await inPython.count()]).toEqual([guide, Math.max(1, await tabs.count())])
    }
  })

  test('the key of the staff page is used only if the reader asks for it', async () => {
    const page = await shop.page({ provokes: [401] })
    await signIn(page, shop.service.key)
    await page.goto(`${shop.service.address}/docs#/operations/listOrders`)
    expect(await page.getByLabel('API key').inputValue()).toBe('')
    await send(page)
    await page.getByText('The key is missing').waitFor()
    await page.getByRole('button', { name: 'Use the key of the staff page' }).click()
    expect(await page.getByLabel('API key').inputValue()).toBe(shop.service.key)
    await send(page)
    expect(await body(page)).toContain('"petId": 9223372036854775807')
  })

  test('whatever is typed here, the staff page keeps its own key', async () => {
    const page = await shop.page()
    await keyField(page)
    await page.getByLabel('Remember the key').check()
    await signIn(page, shop.service.key)
    for (const typed of ['two words', 'pst_live_wrong']) {
      await page.goto(`${shop.service.address}/docs#/operations/listOrders`)
      await page.getByLabel('API key').fill(typed)
      await page.reload()
      expect(await page.getByLabel('API key').inputValue()).toBe(typed)
      await page.goto(shop.service.address)
      await rowOf(page, 1n).getByText('Biscuit').waitFor()
    }
    expect(await page.evaluate(() => Object.values({ ...localStorage }))).toEqual([shop.service.key])
  })

  test('signing out forgets the key that was found here, in this tab and in another', async () => {
    const page = await shop.page()
    await keyField(page)
    await page.getByLabel('Remember the key').check()
    await signIn(page, shop.service.key)
    const docs = await page.context().newPage()
    await docs.goto(`${shop.service.address}/docs#/operations/listOrders`)
    await docs.getByRole('button', { name: 'Use the key of the staff page' }).click()
    expect(await docs.getByLabel('API key').inputValue()).toBe(shop.service.key)
    await personMenu(page).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await docs.waitForFunction(
      () => document.querySelector<HTMLInputElement>('.key-field input')?.value === '',
    )
    await page.goto(`${shop.service.address}/docs#/operations/listOrders`)
    expect(await page.getByLabel('API key').inputValue()).toBe('')
  })
})

function seconds(text: string | null): number {
  return Number(/\d+/.exec(text ?? '')?.[0] ?? Number.NaN)
}
