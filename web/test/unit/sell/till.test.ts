import { afterAll, afterEach, expect, test } from 'bun:test'
import { hideAllToasts } from '../../../src/staff-page/data/toasts.ts'
import type { WorkPlace } from '../../../src/staff-page/data/work/draft.ts'
import { isSent } from '../../../src/staff-page/data/work/work-document.ts'
import { Till } from '../../../src/staff-page/sell/till.ts'
import { breakOff, useService } from '../../support/desk.ts'
import { Device } from '../../support/device.ts'
import { petsNumbered } from '../../support/pets.ts'

const PETS = 12
const { service, inStock, openDesk } = useService({ pets: petsNumbered(PETS) })
const devices: Device[] = []

afterEach(() => {
  for (const device of devices.splice(0)) device.closeTabs()
})
afterAll(hideAllToasts)

/** A till in a tab of its own. */
async function open(device = new Device(), owner?: WorkPlace['owner']) {
  devices.push(device)
  const page = openDesk().open(PETS)
  const place = await device.openTab(page, owner)
  const till = new Till(place, device.storage)
  const sent = () => [...place.outbox.get().values()].filter(isSent)
  const lines = () => [...till.get().lines]
  return { page, device, till, sent, lines, outbox: place.outbox, receipt: () => till.get().head.receipt }
}

test('a scan while a sale is being booked opens the next basket, with the next receipt', async () => {
  const { page, till, lines, sent, receipt } = await open()
  const answer = Promise.withResolvers<void>()
  page.beforeAnswer = () => answer.promise
  till.add(1n, 2)
  const first = receipt()
  const selling = till.sell()
  till.add(2n)
  expect(lines()).toEqual([[2n, 1]])
  expect(receipt()).toBe(first.replace(/001$/, '002'))
  answer.resolve()
  await selling
  expect(lines()).toEqual([[2n, 1]])
  expect([await inStock(1n), await inStock(2n), sent()]).toEqual([8, 10, []])
})

test('a sale ends with its own answer, whatever the next one waits for', async () => {
  const { page, till } = await open()
  const second = Promise.withResolvers<void>()
  page.beforeAnswer = () => (page.sent.length === 2 ? second.promise : undefined)
  till.add(3n)
  const selling = till.sell()
  till.add(4n)
  const sellingNext = till.sell()
  await selling
  second.resolve()
  await sellingNext
  expect([await inStock(3n), await inStock(4n)]).toEqual([9, 9])
})

test('a refused sale comes back into an empty basket with its receipt; otherwise it waits for a decision', async () => {
  const { till, lines, sent, receipt, outbox } = await open()
  till.add(5n, 11)
  const first = receipt()
  await till.sell()
  expect([lines(), receipt()]).toEqual([[[5n, 11]], first])
  expect(till.get().refusal?.pets).toEqual([{ petId: 5n, why: 'Only 10 free.', free: 10 }])
  expect(sent()).toEqual([])

  const selling = till.sell()
  till.add(6n)
  await selling
  expect(lines()).toEqual([[6n, 1]])
  expect(sent()).toMatchObject([{ head: { receipt: first }, refusal: { pets: [{ petId: 5n }] } }])
  for (const document of sent()) await outbox.discard(document)
  expect(sent()).toEqual([])
})

test('the quantity 0 removes a line, and an empty basket has no receipt', async () => {
  const { till, lines, receipt } = await open()
  till.add(7n)
  till.add(8n)
  till.setReceipt('for Lopez')
  till.setQuantity(7n, 0)
  expect([lines(), receipt()]).toEqual([[[8n, 1]], 'for Lopez'])
  till.setQuantity(8n, 0)
  till.add(9n)
  expect(receipt()).toMatch(/^R-\d{6}-\w\w-001$/)
})

test('a receipt that a person typed uses no number', async () => {
  const { till, receipt } = await open()
  till.add(7n)
  const first = receipt()
  till.setReceipt('R-7')
  await till.sell()
  till.add(7n)
  expect(receipt()).toBe(first)
  till.setReceipt('')
  await till.sell()
  till.add(7n)
  expect(receipt()).toBe(first.replace(/001$/, '002'))
})

test('two tabs have one basket, and book it once', async () => {
  const device = new Device()
  const [one, other] = [await open(device), await open(device)]
  one.till.add(10n)
  await one.outbox.reload()
  await other.outbox.reload()
  other.till.add(10n)
  await other.outbox.reload()
  await one.outbox.reload()
  expect([one.lines(), other.lines()]).toEqual([[[10n, 2]], [[10n, 2]]])
  await Promise.all([one.till.sell(), other.till.sell()])
  expect(await inStock(10n)).toBe(8)
  expect([one.lines(), other.lines()]).toEqual([[], []])
})

test('a sale whose response was lost is booked once by another tab, at the time of the sale', async () => {
  const device = new Device()
  const first = await open(device)
  first.till.add(11n)
  first.page.beforeAnswer = breakOff
  await first.till.sell()
  expect(first.sent()).toHaveLength(1)
  device.closeTabs()
  await service().setQuantity(11n, '{"quantity":4}')
  const second = await open(device)
  while (second.sent().length > 0) await Bun.sleep(5)
  expect(second.page.sent).toEqual(first.page.sent.slice(0, 1))
  expect(await inStock(11n)).toBe(4)
})

test('another person does not send it: the service would not know that it was sent before', async () => {
  const device = new Device()
  const first = await open(device)
  first.till.add(12n)
  first.page.beforeAnswer = breakOff
  await first.till.sell()
  device.closeTabs()
  const second = await open(device, { id: 'key_2', name: 'Bob' })
  second.till.add(1n)
  await second.till.sell()
  expect(second.sent()).toMatchObject([{ sent: { by: { name: 'Anna' } } }])
  expect([second.page.sent.length, await inStock(12n)]).toEqual([1, 9])
})

test('a sale that waited for more than 30 days is refused, and booked as of now if it is tried again', async () => {
  const { page, till, sent, outbox } = await open()
  till.add(8n)
  page.beforeSending = breakOff
  await till.sell()
  page.beforeSending = () => {}
  const longAgo = Date.now() - 31 * 24 * 60 * 60 * 1_000
  await outbox.edit((documents) => {
    for (const document of [...documents.values()].filter(isSent)) {
      const batch = { ...document.sent.batch, occurredAt: longAgo }
      documents.set(document.slot, { ...document, sent: { ...document.sent, batch } })
    }
  })
  for (const document of sent()) await outbox.retry(document)
  expect(sent()).toMatchObject([
    { refusal: { message: expect.stringMatching(/^It happened too long/), isTooLate: true } },
  ])
  for (const document of sent()) await outbox.retry(document)
  expect([await inStock(8n), sent()]).toEqual([9, []])
})
