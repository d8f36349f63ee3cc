import { afterAll, afterEach, expect, test } from 'bun:test'
import { hideAllToasts } from '../../../src/staff-page/data/toasts.ts'
import { isSent } from '../../../src/staff-page/data/work/work-document.ts'
import { DeliveryDraft } from '../../../src/staff-page/receive/delivery-draft.ts'
import { breakOff, idsFrom, useService } from '../../support/desk.ts'
import { Device } from '../../support/device.ts'
import { petsNumbered } from '../../support/pets.ts'

const PETS = 1_100

const { service, inStock, openDesk } = useService({ pets: petsNumbered(PETS) })

const devices: Device[] = []

afterEach(() => {
  for (const device of devices.splice(0)) device.closeTabs()
})
afterAll(hideAllToasts)

/** A page with a delivery. */
async function open(device = new Device()) {
  devices.push(device)
  const page = openDesk().open(PETS)
  const place = await device.openTab(page)
  const delivery = new DeliveryDraft(place)
  const sent = () => [...place.outbox.get().values()].filter(isSent)
  return { page, delivery, sent, outbox: place.outbox, device }
}

test('the same pet adds up, and all of it is one request that the history explains and that can be undone', async () => {
  const { page, outbox, delivery } = await open()
  delivery.add(1n, 3)
  delivery.add(2n, 5)
  delivery.add(1n, 4)
  delivery.setReference(' PO-1043 ')
  expect([...delivery.get().lines]).toEqual([
    [2n, 5],
    [1n, 7],
  ])
  // The pieces are added to the stock of that moment, whatever others change.
  await service().setQuantity(2n, '{"quantity":1}')
  await delivery.book()
  expect([await inStock(1n), await inStock(2n)]).toEqual([17, 6])
  expect(page.sent).toHaveLength(1)
  expect(delivery.received.get()).toMatchObject({ pieces: 12, reference: 'PO-1043' })
  expect([delivery.get().lines.size, outbox.get().size]).toEqual([0, 0])
  const { json } = await service().call('GET', '/inventory/1/history')
  expect(json).toMatchObject([
    { before: 10, after: 17, reason: 'received', reference: 'PO-1043' },
    { before: 0 },
  ])
  delivery.add(3n, 1)
  expect(delivery.received.get()).toBeUndefined()
})

test('a delivery whose response was lost is booked once by the next tab, with the same key and time', async () => {
  const { page, delivery, sent, device } = await open()
  delivery.add(11n, 4)
  page.beforeAnswer = breakOff
  await delivery.book()
  // The next delivery can be started.
  delivery.add(12n, 1)
  expect([sent().length, ...delivery.get().lines]).toEqual([1, [12n, 1]])
  device.closeTabs()
  const next = await open(device)
  while (next.sent().length > 0) await Bun.sleep(5)
  expect(next.page.sent).toEqual(page.sent.slice(0, 1))
  expect(JSON.parse(page.sent[0]?.body ?? '').occurredAt).toMatch(/Z$/)
  expect([await inStock(11n), ...next.delivery.get().lines]).toEqual([14, [12n, 1]])
})

test('a pet that is gone keeps all of it from being booked, and is named', async () => {
  const { page, delivery } = await open()
  delivery.add(15n, 1)
  delivery.add(2_000n, 1)
  await delivery.book()
  expect(await inStock(15n)).toBe(10)
  expect(delivery.get().refusal?.pets).toMatchObject([
    { petId: 2_000n, why: 'This pet is not in the store any more.' },
  ])
  delivery.setAmount(2_000n, 0)
  expect(delivery.get().refusal).toBeUndefined()
  await delivery.book()
  expect([await inStock(15n), new Set(page.sent.map(({ idempotencyKey }) => idempotencyKey)).size]).toEqual([
    11, 2,
  ])
})

test('1,000 pets go at once, and one more is refused kindly', async () => {
  const { page, delivery } = await open()
  for (const petId of idsFrom(101, 1_100)) expect(delivery.add(petId, 2)).toBeUndefined()
  expect(delivery.add(1n, 1)).toMatch(/^A delivery has at most 1,000 pets\./)
  expect(delivery.add(101n, Number.MAX_SAFE_INTEGER)).toMatch(/more than a pet can have/)
  expect(delivery.add(101n, 1)).toBeUndefined()
  await delivery.book()
  expect(page.sent).toHaveLength(1)
  expect([await inStock(101n), await inStock(1_100n)]).toEqual([13, 12])
})

test('a draft is kept at every step, for the next tab', async () => {
  const { delivery, device, outbox } = await open()
  delivery.add(21n, 4)
  delivery.setReference('PO-7')
  delivery.setAmount(21n, 5)
  await outbox.reload()
  const next = await open(device)
  expect([...next.delivery.get().lines]).toEqual([[21n, 5]])
  expect(next.delivery.get().head).toEqual({ reference: 'PO-7' })
  expect(outbox.isKept.get()).toBe(true)
})

test('a browser without room says so, and the delivery is booked all the same', async () => {
  const { delivery, outbox } = await open()
  const { put } = IDBObjectStore.prototype
  IDBObjectStore.prototype.put = () => {
    throw new DOMException('no room', 'QuotaExceededError')
  }
  try {
    delivery.add(23n, 1)
    delivery.add(24n, 1)
    await outbox.reload()
    expect([outbox.isKept.get(), ...delivery.get().lines.keys()]).toEqual([false, 23n, 24n])
    await delivery.book()
  } finally {
    IDBObjectStore.prototype.put = put
  }
  expect([await inStock(23n), await inStock(24n), outbox.get().size]).toEqual([11, 11, 0])
})

test('the open line is part of the delivery from its scan on', async () => {
  const { delivery, device, outbox } = await open()
  delivery.open(31n)
  delivery.open(32n)
  delivery.setOpenAmount(12)
  await outbox.reload()
  expect([...(await open(device)).delivery.get().lines]).toEqual([
    [31n, 1],
    [32n, 12],
  ])
  // The same pet adds up, and Escape removes only the pieces of the open line.
  delivery.open(32n)
  delivery.setOpenAmount(5)
  expect(delivery.get().lines.get(32n)).toBe(17)
  delivery.cancelOpenLine()
  expect(delivery.get().lines.get(32n)).toBe(12)
  delivery.open(33n)
  delivery.cancelOpenLine()
  expect(delivery.get().lines.has(33n)).toBe(false)
  expect(delivery.isImplausible(31n, 20_000_000_001_831)).toBe(true)
  await delivery.book()
  expect([await inStock(31n), await inStock(32n)]).toEqual([11, 22])
})
