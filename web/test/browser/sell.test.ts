import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axe } from '../support/axe.ts'
import { fits, PHONE } from '../support/layout.ts'
import { makeOrder } from '../support/orders.ts'
import { barcodeOf, scannedPets } from '../support/pets.ts'
import { reloadKept } from '../support/reload-kept.ts'
import { scan, typeBarcode } from '../support/scanning.ts'
import { signIn, useShop } from '../support/shop.ts'
import { expectSoon } from '../support/soon.ts'

const shop = useShop({ pets: scannedPets(60) })
const DONE = 'DONE-1'

const ready = async (page: Page) => {
  await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' })
  await page.getByPlaceholder('Barcode, name or id').waitFor()
}
const line = (page: Page, petId: number) =>
  page.getByRole('listitem', { name: `Pet number ${petId}`, exact: true })

/** Another tab of the same browser. */
async function openTab(page: Page): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.goto(`${shop.service.address}/#/sell`)
  await signIn(tab, shop.service.key)
  await ready(tab)
  return tab
}

/** The history of a pet, newest first. */
const historyOf = async (petId: number) =>
  (await shop.service.call('GET', `/inventory/${petId}/history`)).json as Readonly<Record<string, unknown>>[]

test('five scans and the barcode that ends a sale: one adjustment with a receipt, which Undo takes back', async () => {
  const page = await shop.signedIn({ path: '/#/sell' })
  await ready(page)
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.postData() ?? '')
  })
  for (const petId of [1, 2, 3, 4, 1]) await scan(page, barcodeOf(petId))
  await expectSoon(() => line(page, 1).getByLabel('How many Pet number 1').inputValue(), '2')
  await scan(page, DONE)
  await page.getByText(/^Sold 5 pieces, receipt R-\d{6}-\w\w-001\.$/).waitFor()
  expect(sent).toHaveLength(1)
  expect(JSON.parse(sent[0] ?? '')).toMatchObject({ reason: 'sold', keepReserved: true })
  expect(await Promise.all([1n, 2n, 3n, 4n].map(shop.inStock))).toEqual([8, 9, 9, 9])
  await page.getByText('Nothing scanned yet').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText(/is undone\.$/).waitFor()
  expect(await Promise.all([1n, 2n, 3n, 4n].map(shop.inStock))).toEqual([10, 10, 10, 10])
  expect((await historyOf(1))[0]).toMatchObject({ reason: 'correction' })
})

test('scan, 6, Enter sets six, as in a delivery; an amount without Enter counts; 0 removes the line', async () => {
  const page = await shop.signedIn({ path: '/#/sell' })
  await ready(page)
  const amount = (petId: number) => line(page, petId).getByRole('textbox').inputValue()
  await scan(page, barcodeOf(51))
  await page.keyboard.type('6')
  await page.keyboard.press('Enter')
  await expectSoon(() => amount(51), '6')
  await scan(page, barcodeOf(52))
  await page.keyboard.type('3')
  await scan(page, barcodeOf(52))
  await expectSoon(() => amount(52), '4')
  await typeBarcode(page, barcodeOf(53))
  await line(page, 53).waitFor()
  // A letter begins a search.
  await page.keyboard.type('number 54', { delay: 60 })
  await page.getByRole('option', { name: /^Pet number 54/ }).waitFor()
  await page.keyboard.press('Enter')
  await line(page, 54).waitFor()
  await page.keyboard.type('3')
  await scan(page, barcodeOf(55))
  await page.keyboard.type('0')
  await page.keyboard.press('Enter')
  await line(page, 55).waitFor({ state: 'detached' })
  await line(page, 53).getByRole('textbox').fill('0')
  await scan(page, DONE)
  await page.getByText(/^Sold 13 pieces,/).waitFor()
  expect(await Promise.all([51n, 52n, 53n, 54n, 55n].map(shop.inStock))).toEqual([4, 6, 10, 7, 10])
})

test('a scan is never an id, neither whole nor cut: the page says loudly that no pet has this barcode', async () => {
  const page = await shop.signedIn({ path: '/#/sell' })
  await ready(page)
  await page.evaluate(() => {
    const { start } = OscillatorNode.prototype
    OscillatorNode.prototype.start = function (when) {
      document.body.dataset.tones = String(Number(document.body.dataset.tones ?? 0) + 1)
      start.call(this, when)
    }
  })
  const refused = (code: string) => page.getByRole('alert').getByText(`No pet has the barcode ${code}.`)
  await scan(page, '00000042')
  await refused('00000042').waitFor()
  expect(await page.evaluate(() => document.body.dataset.tones)).toBe('2')
  await typeBarcode(page, '00000041')
  await refused('00000041').waitFor()
  // Cut, so that the rest is 000042.
  await scan(page, barcodeOf(42), { before: 7, seconds: 0.8 })
  await refused('000042').waitFor()
  await page.getByText('Nothing scanned yet').waitFor()
  await scan(page, barcodeOf(42), { before: 7, seconds: 0.2 })
  await line(page, 42).waitFor()
  expect(await page.getByRole('listitem', { name: /^Pet number/ }).count()).toBe(1)
  expect(await page.getByRole('alert').count()).toBe(0)
  // The amount is still selected.
  await scan(page, '00000043')
  await refused('00000043').waitFor()
  await page.keyboard.type('3')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Sell 3 pieces' }).waitFor()
})

test('reserved units are not sold: the page says for whom they are, and can take them from that order', async () => {
  const orderId = await makeOrder(shop, { petId: 7, quantity: 10, customer: 'Ada' })
  const page = await shop.signedIn({ path: '/#/sell', provokes: [409] })
  await ready(page)
  await scan(page, barcodeOf(7))
  await page.getByRole('button', { name: 'Sell 1 piece' }).click()
  await line(page, 7).getByText('None is free.').waitFor()
  await line(page, 7).getByText('10 reserved for Ada').waitFor()
  expect(await shop.inStock(7n)).toBe(10)
  await axe(page)
  await line(page, 7).getByRole('button', { name: 'Take from this order…' }).click()
  await page.getByRole('button', { name: 'Take them' }).click()
  await page.getByText(`Order ${orderId} is changed. Sell again.`).waitFor()
  await page.getByRole('button', { name: 'Sell 1 piece' }).click()
  await page.getByText(/^Sold 1 piece,/).waitFor()
  expect(await shop.inStock(7n)).toBe(9)
  expect(await shop.send('GET', `/store/orders/${orderId}`)).toMatchObject({
    state: 'open',
    lines: [{ petId: 7, quantity: 9 }],
  })
})

test('several pets are reserved for a customer together, and handed over together', async () => {
  const page = await shop.signedIn({
    path: '/#/sell',
    viewport: PHONE,
    colorScheme: 'dark',
    provokes: [404],
  })
  await ready(page)
  for (const petId of [10, 11, 11]) await scan(page, barcodeOf(petId))
  await page.getByRole('button', { name: 'Reserve…' }).click()
  await axe(page)
  await page.getByRole('button', { name: 'Reserve', exact: true }).click()
  await page.getByText('Enter the name of the customer.').waitFor()
  await page.getByRole('textbox', { name: 'Customer' }).fill('Grace Hopper · 555 0100')
  await page.getByLabel('Note').fill('Saturday')
  await page.getByLabel('Keep it').selectOption('No time limit')
  await page.getByRole('button', { name: 'Reserve', exact: true }).click()
  await page.getByText(/is made: 1 × Pet number 10, 2 × Pet number 11 are reserved/).waitFor()
  await page.getByText('Nothing scanned yet').waitFor()
  expect(await Promise.all([10n, 11n].map(shop.inStock))).toEqual([10, 10])
  await page.getByRole('button', { name: 'Pick up…' }).click()
  await page.getByRole('textbox', { name: /^Customer/ }).fill('5550100')
  await page.getByText('Grace Hopper · 555 0100').waitFor()
  await axe(page)
  await fits(page)
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Complete/ })
    .click()
  await page.getByText('Take 3 out of the stock?').waitFor()
  await page.getByRole('button', { name: /^Yes, complete/ }).click()
  await page.getByText(/is complete: 1 × Pet number 10, 2 × Pet number 11 are taken out/).waitFor()
  await page.getByText('Nothing is reserved for').waitFor()
  expect(await Promise.all([10n, 11n].map(shop.inStock))).toEqual([9, 8])
})

/** Sells pieces with a receipt, past the page. */
const sellElsewhere = (reference: string, changes: readonly object[]) =>
  shop.send('POST', '/inventory/adjustments', { reason: 'sold', reference, changes })

/** Opens a sale in the list of recent sales. */
async function openReturn(page: Page, receipt: string): Promise<void> {
  await page.getByRole('button', { name: 'Return…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: receipt, exact: true }).click()
  await page.getByRole('heading', { name: `Sold · ${receipt}` }).waitFor()
}

test('a customer brings back a part of a sale, the rest is undone, and the stock is as before', async () => {
  const page = await shop.signedIn({ path: '/#/sell' })
  await ready(page)
  for (const petId of [13, 13, 14]) await scan(page, barcodeOf(petId))
  await page.getByLabel('Receipt').fill('R-7')
  await page.getByRole('button', { name: 'Sell 3 pieces' }).click()
  await page.getByText('Sold 3 pieces, receipt R-7.').waitFor()
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Return…' }).click()
  await dialog.getByText('2 × Pet number 13, 1 × Pet number 14').waitFor()
  await axe(page)
  await dialog.getByLabel('Receipt').fill('r-7')
  await dialog.getByRole('button', { name: 'R-7', exact: true }).click()
  await dialog.getByLabel('Take back Pet number 13').fill('3')
  expect(await dialog.getByRole('button', { name: 'Return 0 pieces' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Take back Pet number 13').fill('1')
  await axe(page)
  await dialog.getByRole('button', { name: 'Return 1 piece' }).click()
  await page.getByText('Returned. Stock updated for 1 pet.').waitFor()
  expect(await Promise.all([13n, 14n].map(shop.inStock))).toEqual([9, 9])
  expect((await historyOf(13))[0]).toMatchObject({ reason: 'returned', reference: 'R-7' })

  await page.goto(`${shop.service.address}/#/activity?reason=sold&reference=R-7`)
  await page.getByText('Partly taken back').waitFor()
  await page.getByRole('button', { name: '2 pets, 3 pieces' }).click()
  await dialog.getByText('Returned', { exact: true }).waitFor()
  await dialog.getByText('1 taken back').waitFor()
  await dialog.getByRole('button', { name: 'Undo 2 pieces' }).click()
  await page.getByText('Undone. Stock updated for 2 pets.').waitFor()
  await page.getByText('Taken back', { exact: true }).waitFor()
  expect(await Promise.all([13n, 14n].map(shop.inStock))).toEqual([10, 10])
})

test('a sale comes back once, whichever tab was first, and not after it was undone', async () => {
  await sellElsewhere('R-8', [{ petId: 15, delta: -1 }])
  const page = await shop.signedIn({ path: '/#/sell', provokes: [409] })
  const tabs = [page, await openTab(page)]
  for (const tab of tabs) {
    await ready(tab)
    await openReturn(tab, 'R-8')
    await tab.getByLabel('Take back Pet number 15').fill('1')
  }
  await Promise.all(tabs.map((tab) => tab.getByRole('button', { name: 'Return 1 piece' }).click()))
  const done = (tab: Page) => tab.getByText('Returned. Stock updated for 1 pet.')
  const refused = (tab: Page) => tab.getByRole('alert').getByText('it was taken back meanwhile')
  for (const tab of tabs) await done(tab).or(refused(tab)).first().waitFor()
  const counts = await Promise.all(tabs.map((tab) => Promise.all([done(tab).count(), refused(tab).count()])))
  expect(counts.toSorted()).toEqual([
    [0, 1],
    [1, 0],
  ])
  expect(await shop.inStock(15n)).toBe(10)

  const { id } = await sellElsewhere('R-9', [{ petId: 16, delta: -1 }])
  const late = await shop.signedIn({ path: '/#/sell', provokes: [409] })
  await ready(late)
  await openReturn(late, 'R-9')
  await late.getByLabel('Take back Pet number 16').fill('1')
  await shop.send('POST', `/inventory/adjustments/${id}/reverse`, {})
  await late.getByRole('button', { name: 'Return 1 piece' }).click()
  await refused(late).waitFor()
  await late.getByText('Undone', { exact: true }).waitFor()
  expect(await shop.inStock(16n)).toBe(10)
})

test('a sale that waits while its pet is counted is booked at its own time, so the count is right', async () => {
  const page = await shop.signedIn({ path: '/#/sell', provokes: ['no connection'] })
  await ready(page)
  await scan(page, barcodeOf(17))
  await line(page, 17).waitFor()
  await page.context().setOffline(true)
  await scan(page, DONE)
  await page.getByText('Waiting to be booked: 1 sale.').waitFor()
  await shop.send('POST', '/inventory/adjustments', {
    reason: 'counted',
    changes: [{ petId: 17, quantity: 9 }],
  })
  await page.context().setOffline(false)
  await page.getByText(/is booked\. Pet number 17 was counted after that/).waitFor()
  expect(await shop.inStock(17n)).toBe(9)
})

test('a sale that was booked makes room for the next one, which says why it is not sold', async () => {
  await makeOrder(shop, { petId: 22, quantity: 10 })
  await makeOrder(shop, { petId: 23, quantity: 1 })
  const page = await shop.signedIn({ path: '/#/sell', provokes: [409] })
  await ready(page)
  await scan(page, barcodeOf(21))
  await page.getByRole('button', { name: 'Sell 1 piece' }).click()
  await page.getByText(/^Sold 1 piece,/).waitFor()
  await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox')
  await page.keyboard.type('number 23', { delay: 60 })
  const option = page.getByRole('option', { name: /^Pet number 23/ })
  await option.getByText('#23', { exact: true }).waitFor()
  await option.getByText('9 free', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await scan(page, barcodeOf(22))
  await line(page, 22).waitFor()
  expect(await page.getByText(/^Sold 1 piece,/).count()).toBe(0)
  await page.getByRole('button', { name: 'Sell 1 piece' }).click()
  await page.getByText('Not sold: none is free.', { exact: true }).waitFor()
  await scan(page, barcodeOf(23))
  await page.getByRole('button', { name: 'Sell 2 pieces' }).click()
  await page
    .getByText('Nothing was sold. Change or remove the marked pet, then sell again.', { exact: true })
    .waitFor()
})

test('a question and a form close when the user leaves the view, and the sale survives that and a reload', async () => {
  const page = await shop.signedIn({ path: '/#/receive' })
  await page.getByRole('link', { name: 'Sell' }).click()
  await ready(page)
  await scan(page, barcodeOf(20))
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('heading', { name: 'Discard this sale?' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Receive', level: 1 }).waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox')
  await page.goForward()
  await line(page, 20).waitFor()
  await reloadKept(page)
  await line(page, 20).waitFor()
  await scan(page, '4999999999999')
  await page.getByRole('button', { name: 'Add a pet with this barcode' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Fern')
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'Discard what you entered?' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Receive', level: 1 }).waitFor()
  await expectSoon(() => page.getByRole('dialog').count(), 0)
})

const salesOf = async (petId: number) =>
  (await historyOf(petId)).filter(({ reason }) => reason === 'sold').length

test('two tabs have one basket and book it once, also if both sell it at the same moment', async () => {
  const page = await shop.signedIn({ path: '/#/sell' })
  await ready(page)
  const tabs = [page, await openTab(page)]
  await scan(page, barcodeOf(18))
  for (const tab of tabs) await line(tab, 18).waitFor()
  const buttons = await Promise.all(
    tabs.map((tab) => tab.getByRole('button', { name: 'Sell 1 piece' }).elementHandle()),
  )
  await Promise.all(buttons.map((button) => button?.evaluate((element: HTMLElement) => element.click())))
  for (const tab of tabs) await tab.getByText('Nothing scanned yet').waitFor()
  await expectSoon(() => shop.inStock(18n), 9)
  for (const tab of tabs) await tab.getByText('Booking sale').waitFor({ state: 'detached' })
  expect(await salesOf(18)).toBe(1)
})

test('a tab is closed while its basket is booked: the next tab asks, and it is booked once', async () => {
  const page = await shop.signedIn({ path: '/#/sell' })
  await ready(page)
  const arrived = Promise.withResolvers<void>()
  await page.route('**/inventory/adjustments', async (route) => {
    await route.fetch()
    arrived.resolve()
  })
  await scan(page, barcodeOf(19))
  await line(page, 19).waitFor()
  await scan(page, DONE)
  await arrived.promise
  const context = page.context()
  await page.close()
  const next = await context.newPage()
  await next.goto(`${shop.service.address}/#/sell`)
  await signIn(next, shop.service.key)
  await next.getByText(/^Sale R-\S+ is booked\.$/).waitFor()
  expect([await shop.inStock(19n), await salesOf(19)]).toEqual([9, 1])
})

/** Sells one piece of a pet, and waits until the sale is in the queue or booked. */
async function sell(page: Page, petId: number): Promise<void> {
  await scan(page, barcodeOf(petId))
  await line(page, petId).waitFor()
  await scan(page, DONE)
  await page.getByText('Nothing scanned yet').waitFor()
}

test('sales on two devices without a network, of which one is closed meanwhile: each is booked once, or shown', async () => {
  const devices = await Promise.all(
    [0, 1].map(() => shop.signedIn({ path: '/#/sell', provokes: [409, 'no connection'] })),
  )
  for (const page of devices) {
    await ready(page)
    // The view and its files are there before the network goes.
    await scan(page, barcodeOf(60))
    await line(page, 60).waitFor()
    await page.getByRole('button', { name: 'Remove Pet number 60' }).click()
    await page.context().setOffline(true)
  }
  // Each device sells one of three pets each. Others leave one of the first pet, so one sale is refused.
  const petIds = [31, 32, 33]
  for (const petId of petIds) await shop.setElsewhere(BigInt(petId), petId === 31 ? 1 : 2)
  for (const page of devices) {
    for (const petId of petIds) await sell(page, petId)
    await page.getByText('Waiting to be booked: 3 sales.').waitFor()
  }
  const [first, second] = devices as [Page, Page]
  const context = second.context()
  await second.close()
  await context.setOffline(false)
  const reopened = await context.newPage()
  await reopened.goto(`${shop.service.address}/#/sell`)
  await signIn(reopened, shop.service.key)
  await ready(reopened)
  await first.context().setOffline(false)
  const open = [first, reopened]
  await expectSoon(() => Promise.all(petIds.map((petId) => shop.inStock(BigInt(petId)))), [0, 0, 0])
  const refusedOf = () => Promise.all(open.map((page) => page.getByText(/was not booked\./).count()))
  await expectSoon(async () => (await refusedOf()).reduce((sum, count) => sum + count, 0), 1)
  for (const page of open) await page.getByText('Waiting to be booked').waitFor({ state: 'detached' })
  const sales = (await Promise.all(petIds.map(historyOf))).flat().filter(({ reason }) => reason === 'sold')
  expect([sales.length, new Set(sales.map(({ reference }) => reference)).size]).toEqual([5, 5])
  // A person decides on what was refused: it stays until then.
  const refused = await refusedOf()
  const page = open.find((_, index) => (refused[index] ?? 0) > 0)
  await page?.reload()
  await page
    ?.getByText(/was not booked\./)
    .first()
    .waitFor()
})
