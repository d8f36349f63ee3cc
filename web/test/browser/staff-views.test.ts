import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { StockedPet } from '../../../server/src/core/catalog/pet.ts'
import { axe } from '../support/axe.ts'
import { resize } from '../support/scanning.ts'
import { BROWSER_TEST_MS, useShop } from '../support/shop.ts'

const NAMES = ['Biscuit', 'Mittens', 'Goldie', 'Coco', 'Pebbles'] as const
const PETS: readonly StockedPet[] = NAMES.map((name, index) => ({
  id: BigInt(index + 1),
  name,
  categoryId: BigInt(1 + (index % 2)),
  status: 'available',
  quantity: 10,
}))
const shop = useShop({ pets: PETS })
const PHONE = { width: 390, height: 844 }

const send = async (method: string, path: string, body?: object) => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const headers = { 'Content-Type': 'application/json' }
  const answer = await shop.service.call(method, path, { ...sent, headers })
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`)
  return (answer.text === '' ? {} : answer.json) as Record<string, unknown>
}
const item = (page: Page, name: string) => page.getByRole('listitem', { name, exact: true })
const dialog = (page: Page) => page.getByRole('dialog')
const field = (page: Page, name: string) => dialog(page).getByLabel(name, { exact: true })
const press = (page: Page, name: string | RegExp) => dialog(page).getByRole('button', { name }).click()
const toast = (page: Page, text: string) => page.locator('.toast').getByText(text).waitFor()

/** Nobody has to scroll sideways. */
async function fits(page: Page): Promise<void> {
  const wide = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('main, .card, dialog')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ className, tagName }) => `${tagName} ${className}`),
  )
  expect(wide).toEqual([])
}

test(
  'a category and a pet are added, edited and removed, each after what is asked, and named everywhere',
  async () => {
    const page = await shop.signedIn({ path: '/#/pets', provokes: [409] })
    await item(page, 'Biscuit').getByText('Category 1').waitFor()
    await page.getByRole('button', { name: 'Categories' }).click()
    const first = dialog(page).getByRole('form', { name: 'Category 1' })
    await first.getByLabel('Name').fill('Dogs')
    await first.getByLabel('Warn me at').fill('4')
    await page.keyboard.press('Enter')
    await item(page, 'Biscuit').getByText('Dogs').waitFor()
    await field(page, 'New category').fill('Reptiles')
    await dialog(page).getByRole('button', { name: 'Add' }).click()
    const made = dialog(page).getByRole('form', { name: 'Reptiles' })
    await made.getByRole('button', { name: /^Remove/ }).waitFor()
    const used = dialog(page).getByRole('form', { name: 'Dogs' })
    await used.getByRole('button', { name: /^Remove/ }).click()
    await press(page, 'Yes, remove')
    await used.getByText('It still has pets. Give them another category first').waitFor()
    await axe(page)
    await press(page, 'Done')

    await page.getByRole('button', { name: 'Add a pet' }).click()
    await press(page, 'Add')
    await dialog(page).getByText('Enter a name.').waitFor()
    await dialog(page).getByText('Choose a category.').waitFor()
    await axe(page)
    // The first that is wrong has the focus.
    await page.keyboard.type('Corn snake')
    await field(page, 'Category').selectOption('Reptiles')
    await field(page, 'Barcode').fill('2000000010007')
    await field(page, 'Warn me at').fill('2')
    await field(page, 'In stock').fill('3')
    await press(page, 'Add')
    await toast(page, 'Corn snake is added')
    await item(page, 'Corn snake').getByText('Warn at 2').waitFor()
    await page.getByRole('searchbox').fill('2000000010007')
    await page.getByText('1 found').waitFor()

    await page.getByRole('button', { name: 'Edit Corn snake' }).click()
    await field(page, 'Barcode').fill('')
    const asked = page.waitForRequest((request) => request.method() === 'PATCH')
    await press(page, 'Save')
    expect((await asked).postData()).toBe('{"barcode":null}')
    await toast(page, 'Corn snake is saved.')
    await page.getByRole('button', { name: 'Edit Corn snake' }).click()
    await press(page, 'Remove…')
    await dialog(page).getByText('The 3 in stock go with it.').waitFor()
    await press(page, 'Keep it')
    const [snake] = (await send('GET', '/inventory/search?q=snake')) as unknown as { petId: number }[]
    const order = await send('POST', '/store/orders', { petId: snake?.petId, quantity: 1 })
    await press(page, 'Remove…')
    await press(page, 'Yes, remove it')
    await dialog(page).getByText('It has open orders. Complete or cancel them first').waitFor()
    await axe(page)
    await send('DELETE', `/store/orders/${order.id}`)
    await press(page, 'Remove…')
    await press(page, 'Yes, remove it')
    await toast(page, 'Corn snake is removed.')
    await item(page, 'Corn snake').waitFor({ state: 'detached' })
  },
  BROWSER_TEST_MS,
)

test(
  'two people edit one pet: what the other changes shows, and each changes only what is theirs',
  async () => {
    const page = await shop.signedIn({ path: '/#/pets/2' })
    await page.getByRole('button', { name: 'Edit this pet' }).click()
    await field(page, 'Name').fill('Tiger')
    await send('PATCH', '/pets/2', { barcode: '42' })
    await page.waitForFunction(() =>
      [...document.querySelectorAll('dialog input')].some(
        (one) => one instanceof HTMLInputElement && one.value === '42',
      ),
    )
    expect(await field(page, 'Name').inputValue()).toBe('Tiger')
    await send('PATCH', '/pets/2', { name: 'Leo' })
    await dialog(page).getByText('Somebody else just set the name to “Leo”.').waitFor()
    await page.getByRole('heading', { level: 2, name: 'Edit Leo' }).waitFor()
    await press(page, 'Save')
    await page.getByRole('heading', { level: 1, name: 'Tiger' }).waitFor()
    expect(await page.locator('.pet__facts').innerText()).toMatch(/Barcode\s+42/)
    expect(await send('GET', '/pets/2')).toMatchObject({ name: 'Tiger', barcode: '42' })
    await send('PATCH', '/pets/2', { name: 'Mittens', barcode: null })
    await page.getByRole('heading', { level: 1, name: 'Mittens' }).waitFor()
  },
  BROWSER_TEST_MS,
)

test(
  'what runs low is listed by its threshold as it happens, with the time, and goes when it recovers',
  async () => {
    const page = await shop.signedIn({ path: '/#/low-stock', viewport: PHONE, colorScheme: 'dark' })
    await page.getByText('Nothing is low', { exact: true }).waitFor()
    await axe(page)
    await send('PATCH', '/pets/3', { lowStockAt: 5 })
    await shop.setElsewhere(3n, 5)
    await item(page, 'Goldie').getByText('Just now').waitFor()
    await item(page, 'Goldie').getByText('Warn me at 5').waitFor()
    await page.getByText('1 pet is low.').waitFor()
    await send('POST', '/store/orders', { petId: 3, quantity: 2 })
    await item(page, 'Goldie').getByText('3 free, 2 reserved of 5').waitFor()
    await axe(page)
    await fits(page)
    await shop.setElsewhere(3n, 1)
    await item(page, 'Goldie').getByText('1 too few').waitFor()
    await shop.setElsewhere(3n, 8)
    await item(page, 'Goldie').waitFor({ state: 'detached' })
  },
  BROWSER_TEST_MS,
)

test(
  'the reorder list suggests amounts by the pace of sales, keeps edits, and is printed and saved as CSV',
  async () => {
    const changes = [{ petId: 5, delta: -7 }]
    await send('POST', '/inventory/adjustments', { reason: 'sold', changes })
    await send('PATCH', '/pets/5', { name: '=HYPERLINK("x"),1', lowStockAt: 4, barcode: '2000000000053' })
    await send('PATCH', '/pets/4', { lowStockAt: 12 })
    const page = await shop.signedIn({ path: '/#/low-stock' })
    // 7 in a week are 28 in 4 weeks, plus 4, minus the 3 that are free.
    const order = page.getByRole('textbox', { name: /Order units of =HYPERLINK/ })
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.low-row input')].some(
        (field) => field instanceof HTMLInputElement && field.value === '29',
      ),
    )
    // Nothing was sold of the 10 that are free. With 12 the pet would still be low.
    expect(await page.getByRole('textbox', { name: 'Order units of Coco' }).inputValue()).toBe('3')
    await order.fill('40')
    await page.getByRole('textbox', { name: 'Order units of Coco' }).fill('0')
    await axe(page)
    // The edited amounts are still there after a visit to another view.
    await page.getByRole('link', { name: 'Orders', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
    const sales = Promise.withResolvers<void>()
    await page.route('**/inventory/history?*', async (route) => {
      await sales.promise
      await route.fallback()
    })
    await page.goBack()
    await order.waitFor()
    expect(await order.inputValue()).toBe('40')
    // Without the sales, the file would have wrong amounts.
    expect(await page.getByRole('button', { name: 'Download CSV' }).isDisabled()).toBe(true)
    sales.resolve()
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV' }).click()
    const text = await Bun.file(await (await downloading).path()).text()
    expect(text.replace('\ufeff', '').split('\r\n')).toEqual([
      'Pet id,Name,Barcode,Category,Free,Warn me at,Sold in 4 weeks,Order',
      `5,"'=HYPERLINK(""x""),1",'2000000000053,Dogs,3,4,28,40`,
      '',
    ])
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByText('2000000000053').isVisible()).toBe(true)
    expect(await order.isVisible()).toBe(true)
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
    expect(await page.getByRole('navigation').isVisible()).toBe(false)
    await send('PATCH', '/pets/5', { name: 'Pebbles', lowStockAt: null, barcode: null })
    await send('PATCH', '/pets/4', { lowStockAt: null })
    await shop.setElsewhere(5n, 10)
  },
  BROWSER_TEST_MS,
)

test(
  'all changes are listed as they happen, and found by who, reason, day and pet, also after a reload',
  async () => {
    const { secret } = await shop.service.createKey('enterprise', { name: 'Stockroom' })
    const changed = (petId: number, delta: number, reason: string, key = shop.service.key) =>
      shop.service.call('POST', '/inventory/adjustments', {
        body: JSON.stringify({ reason, changes: [{ petId, delta }] }),
        headers: { 'Content-Type': 'application/json' },
        key,
      })
    await changed(4, -1, 'sold')
    await changed(4, 5, 'received', secret)
    const page = await shop.signedIn({ path: '/#/activity', viewport: PHONE })
    const rows = page.locator('.activity-row')
    await rows.filter({ hasText: 'Stockroom' }).filter({ hasText: 'Received' }).waitFor()
    await changed(5, -2, 'damaged', secret)
    await rows.first().filter({ hasText: 'Pebbles' }).filter({ hasText: 'Damaged' }).waitFor()
    await axe(page)
    await fits(page)

    // It filters while somebody types, by a part of the name, in any case.
    await page.getByLabel('Who').pressSequentially('ckRO')
    await page.getByText('2 found').waitFor()
    await page.getByRole('option', { name: 'Stockroom' }).click()
    await page.getByText('2 found').waitFor()
    await page.getByLabel('Reason').selectOption('Received')
    await page.getByText('1 found').waitFor()
    await changed(5, 3, 'received')
    await changed(4, 1, 'received', secret)
    await page.getByText('2 found').waitFor()
    await page.getByRole('combobox', { name: 'Pet' }).fill('coc')
    await page.getByRole('option', { name: /Coco/ }).waitFor()
    await axe(page)
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => location.hash.includes('pet=4'))
    await page.reload()
    await page.getByText('2 found').waitFor()
    expect(await page.getByLabel('Who').inputValue()).toBe('Stockroom')
    await page.getByLabel('To', { exact: true }).fill('2020-01-01')
    await page.getByText('No changes match.', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await rows.filter({ hasText: 'Damaged' }).waitFor()
  },
  BROWSER_TEST_MS,
)

test(
  'a pet that is added, edited or removed is listed in Activity',
  async () => {
    const page = await shop.signedIn({ path: '/#/activity', viewport: PHONE })
    await page.getByText('Live', { exact: true }).waitFor()
    const rows = page.locator('.activity-row')
    const { id } = await send('POST', '/pets', { name: 'Ivy', categoryId: 1 })
    await rows.filter({ hasText: 'Ivy' }).getByText('Added').waitFor()
    await send('PATCH', `/pets/${id}`, { name: 'Fern', barcode: '77', lowStockAt: 3 })
    await rows.filter({ hasText: 'Fern' }).getByText('Edited: name Fern, barcode 77, warn at 3').waitFor()
    await axe(page)
    await fits(page)
    await send('DELETE', `/pets/${id}`)
    await rows.filter({ hasText: 'Fern' }).getByText('Removed').waitFor()
    await page.getByLabel('Reason').selectOption('Sold')
    await rows.filter({ hasText: 'Fern' }).first().waitFor({ state: 'detached' })
  },
  BROWSER_TEST_MS,
)

test(
  'an edit from before the page was opened is listed by time with who made it, also if the key was revoked',
  async () => {
    const { id, secret } = await shop.service.createKey('enterprise', { name: 'Nora' })
    const asNora = async (method: string, path: string, body: object) => {
      const sent = { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
      expect((await shop.service.call(method, path, { ...sent, key: secret })).status).toBe(200)
      // Changes of the same millisecond would be sorted by their kind.
      const changedBy = Date.now()
      while (Date.now() === changedBy) await Bun.sleep(1)
    }
    await asNora('PATCH', '/inventory/1', { quantity: 5_021 })
    await asNora('PATCH', '/pets/1', { barcode: '4711', status: 'pending' })
    await asNora('PATCH', '/inventory/1', { quantity: 5_022 })
    await send('DELETE', `/keys/${id}`)
    const page = await shop.signedIn({ path: '/#/activity' })
    const rows = page.locator('.activity-row').filter({ hasText: 'Nora' })
    await rows.nth(1).getByText('Edited: status pending, barcode 4711').waitFor()
    await rows.nth(0).getByText('5,022').waitFor()
    await rows.nth(2).getByText('5,021').waitFor()
    await send('PATCH', '/pets/1', { status: 'available' })
    const newest = page.locator('.activity-row').first()
    await newest.getByText('Edited: status available').waitFor()

    await page.getByLabel('Who').fill('nor')
    await page.getByText('3 found').waitFor()
    await page.getByRole('combobox', { name: 'Pet' }).fill('mitt')
    await page.getByRole('option', { name: /Mittens/ }).click()
    await page.getByText('No changes match.', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await newest.getByText('Edited: status available').waitFor()
    await axe(page)
  },
  BROWSER_TEST_MS,
)

test(
  'a whole delivery is one entry in Activity, and is reversed as a whole or not at all',
  async () => {
    const receive = (reference: string, petIds: readonly number[]) =>
      send('POST', '/inventory/adjustments', {
        reason: 'received',
        reference,
        changes: petIds.map((petId) => ({ petId, delta: 6 })),
      })
    const before = [await shop.inStock(1n), await shop.inStock(2n)]
    await receive('PO-1043', [1, 2])
    const page = await shop.signedIn({ path: '/#/activity' })
    const entry = page.locator('.activity-row').filter({ hasText: 'Received · PO-1043' })
    await entry.getByRole('button', { name: '2 pets, 12 pieces' }).click()
    await page.locator('.activity-row--part').filter({ hasText: 'Biscuit' }).waitFor()
    await axe(page)
    const reverse = () => entry.getByRole('button', { name: 'Reverse Received · PO-1043' }).click()
    await reverse()
    await dialog(page).getByText('2 pets, 12 pieces').waitFor()
    await press(page, 'Keep it')
    await reverse()
    await press(page, 'Reverse')
    await toast(page, 'Reversed. Stock updated for 2 pets.')
    expect([await shop.inStock(1n), await shop.inStock(2n)]).toEqual(before)
    const correction = page.locator('.activity-row').filter({ hasText: 'Corrected · reverses PO-1043' })
    await correction.getByText('2 pets, 12 pieces').waitFor()
    await reverse()
    await dialog(page).getByText('already reversed it').waitFor()
    await press(page, 'Keep it')
    expect([await shop.inStock(1n), await shop.inStock(2n)]).toEqual(before)
  },
  BROWSER_TEST_MS,
)

test(
  'a delivery that was partly sold is not reversed, and the page says which pets and why',
  async () => {
    const changes = [1, 2].map((petId) => ({ petId, delta: 6 }))
    await send('POST', '/inventory/adjustments', { reason: 'received', reference: 'PO-1044', changes })
    const kept = await shop.inStock(1n)
    await shop.setElsewhere(2n, 2)
    const page = await shop.signedIn({ path: '/#/activity', viewport: PHONE, provokes: [409] })
    await page.getByRole('button', { name: 'Reverse Received · PO-1044' }).click()
    await press(page, 'Reverse')
    await dialog(page).getByText('Only 2 can be taken back, not 6.').waitFor()
    await dialog(page).getByText('Mittens').waitFor()
    await axe(page)
    await press(page, 'Close')
    expect([await shop.inStock(1n), await shop.inStock(2n)]).toEqual([kept, 2])
    await fits(page)
    const { secret } = await shop.service.createKey('enterprise', { permissions: ['orders'] })
    const reader = await shop.signedIn({ path: '/#/activity', key: secret })
    await reader.getByText('Received · PO-1044').waitFor()
    expect(await reader.getByRole('button', { name: /^Reverse/ }).count()).toBe(0)
    for (const petId of [1n, 2n]) await shop.setElsewhere(petId, 10)
  },
  BROWSER_TEST_MS,
)

test(
  'a file is shown line by line before anything is changed, then brought in, and said what came of it',
  async () => {
    const page = await shop.signedIn({ path: '/#/pets' })
    await page.getByRole('link', { name: 'Import…' }).click()
    const choose = async (text: string) =>
      page.getByLabel('CSV file').setInputFiles({
        name: 'winter.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(text),
      })
    await choose('petId;name\n1;Biscuit\n')
    await page.getByRole('alert').getByText('status, quantity are missing').waitFor()
    await axe(page)
    await choose(
      '\ufeffpetId;name;categoryId;status;quantity\r\n1;Kürbis;1;available;12\r\n70;Neu;1;sold;3\r\n71;Neu;1;gone;3\r\n5;Pebbles;1;available;15\r\n',
    )
    await page.getByText('1 to add, 2 to change, 1 refused').waitFor()
    const table = page.getByRole('table')
    await table.getByRole('row', { name: /4 status must be one of/ }).waitFor()
    await page.getByRole('button', { name: 'To add 1' }).click()
    await table.getByRole('row', { name: /3 Neu id 70, .*3 in stock/ }).waitFor()
    await page.getByRole('button', { name: 'To change 2' }).click()
    await table.getByRole('row', { name: /2 Kürbis name to Kürbis, quantity from 10 to 12/ }).waitFor()
    await axe(page)
    await page.getByText('The import needs 2 requests').waitFor()
    await page.getByRole('button', { name: 'Import…' }).click()
    expect(await shop.inStock(1n)).toBe(10)
    await page.getByRole('button', { name: 'Yes, import' }).click()
    await page.getByRole('heading', { name: 'winter.csv is imported' }).waitFor()
    await page.getByText('1 added, 2 changed.').waitFor()
    await axe(page)
    expect([await shop.inStock(1n), await shop.inStock(70n)]).toEqual([12, 3])
    expect(await send('GET', '/pets/1')).toMatchObject({ name: 'Kürbis' })
    await send('PATCH', '/pets/1', { name: 'Biscuit' })
    await send('DELETE', '/pets/70')
  },
  BROWSER_TEST_MS,
)

test(
  'a pet is printed whole and without what can be pressed',
  async () => {
    for (let quantity = 20; quantity < 36; quantity++) await shop.setElsewhere(1n, quantity)
    const page = await shop.signedIn({ path: '/#/pets/1', colorScheme: 'dark' })
    await page.locator('.history-table tbody tr').nth(10).waitFor()
    await page.emulateMedia({ media: 'print' })
    const seen = await page.evaluate(() => {
      const last = document.querySelector('.history-table tbody tr:last-child')
      const main = document.querySelector('main')
      return {
        header: document.querySelector('header')?.checkVisibility(),
        buttons: [...document.querySelectorAll('button')].filter((one) => one.checkVisibility()).length,
        isCut: (last?.getBoundingClientRect().bottom ?? 0) > (main?.getBoundingClientRect().bottom ?? 0),
        scheme: getComputedStyle(document.documentElement).colorScheme,
      }
    })
    expect(seen).toEqual({ header: false, buttons: 0, isCut: false, scheme: 'light' })
  },
  BROWSER_TEST_MS,
)

test(
  'the sign-in page speaks to the staff, and what operators need is behind a link',
  async () => {
    const page = await shop.page({ viewport: PHONE, colorScheme: 'dark' })
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
    const command = page.getByText('petstore keys create')
    expect(await command.isVisible()).toBe(false)
    await page.getByText('Trying the demo, or running the service?').click()
    await command.waitFor()
    await page.getByText('The demo has the key pst_demo_enterprise.').waitFor()
    expect(await page.getByRole('link', { name: 'the API docs' }).getAttribute('href')).toBe('/docs')
    await axe(page)
    await fits(page)
  },
  BROWSER_TEST_MS,
)

test(
  'what a key may not do is not offered',
  async () => {
    const { secret } = await shop.service.createKey('enterprise', { permissions: ['orders'] })
    const page = await shop.signedIn({ path: '/#/pets', key: secret, viewport: PHONE })
    await item(page, 'Coco').waitFor()
    expect(await page.getByRole('button', { name: /^(Edit|Add|Categories)/ }).count()).toBe(0)
    expect(await page.getByRole('link', { name: /^Import/ }).count()).toBe(0)
    await axe(page)
    await fits(page)
    await item(page, 'Coco').getByRole('link').click()
    await page.getByLabel('In stock').waitFor()
    expect(await page.getByRole('button', { name: /^(Edit this pet|One less|One more)/ }).count()).toBe(0)
    expect(await page.getByLabel('In stock').isEditable()).toBe(false)
    await page.getByRole('button', { name: 'Reserve', exact: true }).waitFor()
  },
  BROWSER_TEST_MS,
)

test(
  'the link back on a pet leads to the view that the user came from, with its filters',
  async () => {
    const page = await shop.signedIn({ path: '/#/pets/4' })
    await page.getByRole('link', { name: 'Back to Stock' }).waitFor()
    await page.goto(`${shop.service.address}/#/activity`)
    await page.getByLabel('Reason').selectOption('Received')
    await page.waitForFunction(() => location.hash.includes('reason=received'))
    await page.evaluate(() => {
      location.hash = '#/pets/2'
    })
    await page.getByRole('link', { name: 'Back to Activity' }).waitFor()
    await page.getByRole('link', { name: 'Orders', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Back to Activity' }).click()
    await page.waitForFunction(() => location.hash === '#/activity?reason=received')
  },
  BROWSER_TEST_MS,
)

test(
  'daily work comes first, administration is a group of its own, and a phone has a bar at the bottom',
  async () => {
    const page = await shop.signedIn()
    const navigation = page.getByRole('navigation', { name: 'Main' })
    const titles = () => navigation.getByRole('link').allInnerTexts()
    const isDailyFirst = (shown: readonly string[]) =>
      shown.indexOf('Activity') < shown.indexOf('Pets') && shown.indexOf('Stock') === 0
    expect(isDailyFirst(await titles())).toBe(true)

    await resize(page, { width: 820, height: 900 })
    await page.getByRole('link', { name: 'Overview' }).waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Manage' }).click()
    await axe(page)
    await page.getByRole('link', { name: 'Overview' }).focus()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Overview' }).waitFor({ state: 'hidden' })
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Manage')

    await resize(page, PHONE)
    const more = page.getByRole('button', { name: 'More', exact: true })
    const box = await more.boundingBox()
    expect(box !== null && box.y + box.height > PHONE.height - 4 && box.height >= 44).toBe(true)
    expect((await titles()).slice(0, 1)).toEqual(['Stock'])
    await more.click()
    await axe(page)
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
    await page.getByRole('link', { name: 'Overview' }).waitFor({ state: 'hidden' })
    expect(await more.getAttribute('aria-current')).toBe('true')
    await fits(page)
  },
  BROWSER_TEST_MS,
)

test(
  'all views begin at the same edge and have the same width',
  async () => {
    const page = await shop.signedIn({ viewport: { width: 1600, height: 900 } })
    const boxes = new Set<string>()
    for (const view of ['stock', 'receive', 'orders', 'low-stock', 'pets', 'overview', 'pets/1']) {
      await page.goto(`${shop.service.address}/#/${view}`)
      const box = await page.locator('main > :has(h1)').first().boundingBox()
      boxes.add(`${box?.x} ${box?.width}`)
    }
    expect([...boxes]).toHaveLength(1)
  },
  BROWSER_TEST_MS,
)

test(
  'the pets of an import are one entry in Activity, and older changes follow after its last page',
  async () => {
    await shop.setElsewhere(5n, 4_321)
    const pets = Array.from({ length: 600 }, (_, index) => ({
      id: 2_000 + index,
      name: 'Guppy',
      categoryId: 1,
    }))
    const page = await shop.signedIn({ path: '/#/activity' })
    const rows = page.locator('.activity-row')
    await rows.first().getByText('4,321').waitFor()
    await send('POST', '/pets/batch', { pets })
    await rows.first().getByText('600 pets').waitFor()
    await page.reload()
    await rows.getByText('500+ pets').waitFor()
    await rows.getByText('4,321').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Show more' }).click()
    await rows.first().getByText('600 pets').click()
    await page.locator('.activity-row--part').first().getByText('Added').waitFor()
    await rows.getByText('4,321').waitFor()
  },
  BROWSER_TEST_MS,
)
