import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { fits, PHONE, resize } from '../support/layout.ts'
import { petsNamed } from '../support/pets.ts'
import { useShop } from '../support/shop.ts'

const shop = useShop({
  pets: petsNamed('Biscuit', 'Mittens', 'Goldie', 'Coco', 'Pebbles').map((pet, index) => ({
    ...pet,
    categoryId: BigInt(1 + (index % 2)),
  })),
})
const item = (page: Page, name: string) => page.getByRole('listitem', { name, exact: true })
const dialog = (page: Page) => page.getByRole('dialog')
const field = (page: Page, name: string) => dialog(page).getByLabel(name, { exact: true })
const press = (page: Page, name: string | RegExp) => dialog(page).getByRole('button', { name }).click()
const toast = (page: Page, text: string) => page.locator('.toast').getByText(text).waitFor()

test('a category and a pet are added, edited and removed, each after what is asked, and named everywhere', async () => {
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
  const [snake] = (await shop.send('GET', '/inventory/search?q=snake')) as unknown as { petId: number }[]
  const order = await shop.send('POST', '/store/orders', { petId: snake?.petId, quantity: 1 })
  await press(page, 'Remove…')
  await press(page, 'Yes, remove it')
  await dialog(page).getByText('It has open orders. Complete or cancel them first').waitFor()
  await shop.send('DELETE', `/store/orders/${order.id}`)
  await press(page, 'Remove…')
  await press(page, 'Yes, remove it')
  await toast(page, 'Corn snake is removed.')
  await item(page, 'Corn snake').waitFor({ state: 'detached' })
})

test('two people edit one pet: what the other changes shows, and each changes only what is theirs', async () => {
  const page = await shop.signedIn({ path: '/#/pets/2' })
  await page.getByRole('button', { name: 'Edit this pet' }).click()
  await field(page, 'Name').fill('Tiger')
  await shop.send('PATCH', '/pets/2', { barcode: '42' })
  await page.waitForFunction(() =>
    [...document.querySelectorAll('dialog input')].some(
      (one) => one instanceof HTMLInputElement && one.value === '42',
    ),
  )
  expect(await field(page, 'Name').inputValue()).toBe('Tiger')
  await shop.send('PATCH', '/pets/2', { name: 'Leo' })
  await dialog(page).getByText('Somebody else just set the name to “Leo”.').waitFor()
  await page.getByRole('heading', { level: 2, name: 'Edit Leo' }).waitFor()
  await press(page, 'Save')
  await page.getByRole('heading', { level: 1, name: 'Tiger' }).waitFor()
  expect(await page.locator('.pet__facts').innerText()).toMatch(/Barcode\s+42/)
  expect(await shop.send('GET', '/pets/2')).toMatchObject({ name: 'Tiger', barcode: '42' })
  await shop.send('PATCH', '/pets/2', { name: 'Mittens', barcode: null })
  await page.getByRole('heading', { level: 1, name: 'Mittens' }).waitFor()
})

test('the reorder list suggests amounts by the pace of sales, keeps edits, and is printed and saved as CSV', async () => {
  const changes = [{ petId: 5, delta: -7 }]
  await shop.send('POST', '/inventory/adjustments', { reason: 'sold', changes })
  await shop.send('PATCH', '/pets/5', { name: '=HYPERLINK("x"),1', lowStockAt: 4, barcode: '2000000000053' })
  await shop.send('PATCH', '/pets/4', { lowStockAt: 12 })
  const page = await shop.signedIn({ path: '/#/low-stock' })
  const order = page.getByRole('textbox', { name: /Order units of =HYPERLINK/ })
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.low-row input')].some(
      (field) => field instanceof HTMLInputElement && field.value === '8',
    ),
  )
  await order.fill('40')
  await page.getByRole('textbox', { name: 'Order units of Coco' }).fill('0')
  // The edited amounts are still there after a visit to another view.
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  const sales = Promise.withResolvers<void>()
  await page.route('**/reports/movements?*', async (route) => {
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
  expect(text).toContain(`\r\n5,"'=HYPERLINK(""x""),1",'2000000000053,Dogs,3,4,7,40\r\n`)
  await page.emulateMedia({ media: 'print' })
  expect(await page.getByText('2000000000053').isVisible()).toBe(true)
  expect(await order.isVisible()).toBe(true)
  expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
  expect(await page.getByRole('navigation').isVisible()).toBe(false)
  await shop.send('PATCH', '/pets/5', { name: 'Pebbles', lowStockAt: null, barcode: null })
  await shop.send('PATCH', '/pets/4', { lowStockAt: null })
  await shop.setElsewhere(5n, 10)
})

test('all changes are listed as they happen, and found by who, reason, day and pet, also after a reload', async () => {
  const { secret } = await shop.service.createKey('enterprise', { name: 'Stockroom' })
  const changed = (petId: number, delta: number, reason: string, key = shop.service.key) =>
    shop.send('POST', '/inventory/adjustments', { reason, changes: [{ petId, delta }] }, key)
  await changed(4, -1, 'sold')
  await changed(4, 5, 'received', secret)
  const page = await shop.signedIn({ path: '/#/activity', viewport: PHONE })
  const rows = page.locator('.activity-row')
  await rows.filter({ hasText: 'Stockroom' }).filter({ hasText: 'Received' }).waitFor()
  await changed(5, -2, 'damaged', secret)
  await rows.first().filter({ hasText: 'Pebbles' }).filter({ hasText: 'Damaged' }).waitFor()
  await fits(page)

  await page.getByLabel('Who').selectOption('Stockroom')
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
  expect(await page.getByLabel('Who').locator('option:checked').innerText()).toBe('Stockroom')
  await page.getByLabel('To', { exact: true }).fill('2020-01-01')
  await page.getByText('No changes match.', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Show all' }).click()
  await rows.filter({ hasText: 'Damaged' }).waitFor()
})

test('a pet that is added, edited or removed is listed in Activity with who did it, from before and as it happens', async () => {
  const { id: keyId, secret } = await shop.service.createKey('enterprise', { name: 'Nora' })
  await shop.send('PATCH', '/pets/1', { barcode: '4711', status: 'pending' }, secret)
  await shop.send('DELETE', `/keys/${keyId}`)
  const page = await shop.signedIn({ path: '/#/activity?show=pets', viewport: PHONE })
  const rows = page.locator('.activity-row')
  await rows.filter({ hasText: 'Nora' }).getByText('Edited: status pending, barcode 4711').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  const { id } = await shop.send('POST', '/pets', { name: 'Ivy', categoryId: 1 })
  await rows.filter({ hasText: 'Ivy' }).getByText('Added').waitFor()
  await shop.send('PATCH', `/pets/${id}`, { name: 'Fern', barcode: '77', lowStockAt: 3 })
  await rows.filter({ hasText: 'Fern' }).getByText('Edited: name Fern, barcode 77, warn at 3').waitFor()
  await fits(page)
  await shop.send('DELETE', `/pets/${id}`)
  await rows.filter({ hasText: 'Fern' }).getByText('Removed').waitFor()
  await page.getByLabel('Show').selectOption('Stock')
  await rows.filter({ hasText: 'Fern' }).first().waitFor({ state: 'detached' })
})

test('a whole delivery is one entry in Activity, and is undone once, whole or by line', async () => {
  const before = [await shop.inStock(1n), await shop.inStock(2n)]
  const changes = [1, 2].map((petId) => ({ petId, delta: 6 }))
  const delivery = { reason: 'received', reference: 'PO-1043', note: 'Two boxes', changes }
  await shop.send('POST', '/inventory/adjustments', delivery)
  const page = await shop.signedIn({ path: '/#/activity' })
  const entry = page.locator('.activity-row').filter({ hasText: 'Received · PO-1043' })
  const open = () => entry.getByRole('button', { name: '2 pets, 12 pieces' }).click()
  await open()
  await dialog(page).getByText('Two boxes').waitFor()
  await axe(page)
  await dialog(page).getByLabel('Take back Biscuit').fill('0')
  await press(page, 'Undo 6 pieces')
  await toast(page, 'Undone. Stock updated for 1 pet.')
  await entry.getByText('Partly taken back').waitFor()
  await open()
  await press(page, 'Undo 6 pieces')
  await entry.getByText('Taken back', { exact: true }).waitFor()
  expect([await shop.inStock(1n), await shop.inStock(2n)]).toEqual(before)
  await open()
  await dialog(page)
    .getByText(/1 pet, 6 pieces/)
    .nth(1)
    .waitFor()
  expect(await dialog(page).getByRole('button', { name: /^Undo/ }).count()).toBe(0)
  await press(page, 'Close')
  const undone = page.locator('.activity-row').filter({ hasText: 'Undone · PO-1043' })
  await undone.first().getByRole('button').click()
  await dialog(page).getByText('cannot be undone itself').waitFor()
})

test('a pet is printed whole and without what can be pressed', async () => {
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
})

test('what a key may not do is not offered', async () => {
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
  await page.getByRole('button', { name: 'Reserve for a customer…' }).waitFor()
  await page.goto(`${shop.service.address}/#/activity`)
  await page.getByRole('button', { name: '2 pets, 12 pieces' }).click()
  await dialog(page).getByText('Two boxes').waitFor()
  expect(await dialog(page).getByRole('button', { name: /^Undo/ }).count()).toBe(0)
})

test('the link back on a pet leads to the view that the user came from, with its filters', async () => {
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
})

test('daily work comes first, administration is a group of its own, and a phone has a bar at the bottom', async () => {
  const page = await shop.signedIn()
  const navigation = page.getByRole('navigation', { name: 'Main' })
  const titles = () => navigation.getByRole('link').allInnerTexts()
  const isDailyFirst = (shown: readonly string[]) =>
    shown.indexOf('Activity') < shown.indexOf('Pets') && shown.indexOf('Stock') === 0
  expect(isDailyFirst(await titles())).toBe(true)

  await resize(page, { width: 820, height: 900 })
  await page.getByRole('link', { name: 'Overview' }).waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Manage' }).click()
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
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  await page.getByRole('link', { name: 'Overview' }).waitFor({ state: 'hidden' })
  expect(await more.getAttribute('aria-current')).toBe('true')
  await fits(page)
})
