import { expect, setSystemTime, test } from 'bun:test'
import { KeptWork } from '../../../src/staff-page/data/kept-work.ts'
import { DeliveryDraft } from '../../../src/staff-page/receive/delivery-draft.ts'
import { breakOff, idsFrom, useService } from '../../support/desk.ts'
import { petsNumbered } from '../../support/pets.ts'
import { Shelf } from '../../support/shelf.ts'

const PETS = 1_100

const { service, inStock, openDesk } = useService({ pets: petsNumbered(PETS) })

/** A page with a delivery. `reload` opens another page in the same browser. */
function open(shelf = new Shelf(), ownerId = 'key_1') {
  const page = openDesk().open(PETS)
  const kept = new KeptWork(ownerId, 'receive', shelf)
  const delivery = new DeliveryDraft(page.saving, kept)
  return { page, shelf, delivery, reload: () => open(shelf, ownerId) }
}

test('the same pet adds up, and all of it is one request that the history explains and that can be undone', async () => {
  const { page, shelf, delivery } = open()
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
  expect(delivery.get()).toMatchObject({ phase: 'open', head: undefined, sent: undefined })
  expect(delivery.get().lines.size).toBe(0)
  expect(delivery.received.get()).toMatchObject({ pieces: 12, reference: 'PO-1043' })
  expect(shelf.texts.size).toBe(0)
  const { json } = await service().call('GET', '/inventory/1/history')
  expect(json).toMatchObject([
    { before: 10, after: 17, reason: 'received', reference: 'PO-1043' },
    { before: 0 },
  ])
  delivery.add(3n, 1)
  expect(delivery.received.get()).toBeUndefined()
})

test('a lost answer is asked for with the same key and time, also days later after a reload, and is received once', async () => {
  const { page, delivery, reload } = open()
  delivery.add(11n, 4)
  page.beforeAnswer = breakOff
  await delivery.book()
  expect([delivery.get().phase, ...delivery.get().lines]).toEqual(['unsettled', [11n, 4]])
  // What was sent must stay as it was sent.
  delivery.add(12n, 1)
  delivery.setReference('another')
  await delivery.book()
  const again = reload()
  expect([again.delivery.get().phase, ...again.delivery.get().lines]).toEqual(['unsettled', [11n, 4]])
  setSystemTime(Date.now() + 20 * 24 * 60 * 60 * 1_000)
  await again.delivery.book()
  setSystemTime()
  expect([again.delivery.get().phase, again.delivery.get().lines.size]).toEqual(['open', 0])
  expect(again.delivery.received.get()).toMatchObject({ pieces: 4 })
  expect(again.page.sent.slice(-1)).toEqual(page.sent.slice(0, 1))
  expect(JSON.parse(page.sent[0]?.body ?? '').occurredAt).toMatch(/Z$/)
  expect(await inStock(11n)).toBe(14)
})

test('a pet that is gone keeps all of it from being booked, and is named', async () => {
  const { page, delivery } = open()
  delivery.add(15n, 1)
  delivery.add(2_000n, 1)
  await delivery.book()
  expect(await inStock(15n)).toBe(10)
  expect(delivery.get()).toMatchObject({ phase: 'open', sent: undefined })
  expect([...delivery.get().refused]).toEqual([[2_000n, 'This pet is not in the store any more.']])
  delivery.setAmount(2_000n, 0)
  expect(delivery.get().refused.size).toBe(0)
  await delivery.book()
  expect([await inStock(15n), new Set(page.sent.map(({ idempotencyKey }) => idempotencyKey)).size]).toEqual([
    11, 2,
  ])
})

test('1,000 pets go at once, and one more is refused kindly', async () => {
  const { page, delivery } = open()
  for (const petId of idsFrom(101, 1_100)) expect(delivery.add(petId, 2)).toBeUndefined()
  expect(delivery.add(1n, 1)).toMatch(/^A delivery has at most 1,000 pets\./)
  expect(delivery.add(101n, Number.MAX_SAFE_INTEGER)).toMatch(/more than a pet can have/)
  expect(delivery.add(101n, 1)).toBeUndefined()
  await delivery.book()
  expect(page.sent).toHaveLength(1)
  expect([await inStock(101n), await inStock(1_100n)]).toEqual([13, 12])
})

test('a draft belongs to one key, survives invalid data, and reports if it cannot be kept', async () => {
  const { shelf, delivery, reload } = open()
  delivery.add(21n, 4)
  delivery.setReference('PO-7')
  delivery.setAmount(21n, 5)
  expect([...reload().delivery.get().lines]).toEqual([[21n, 5]])
  expect(reload().delivery.get().head).toEqual({ reference: 'PO-7' })
  expect(open(shelf, 'key_2').delivery.get().lines.size).toBe(0)
  expect([...shelf.texts].join()).not.toContain(service().key)
  shelf.isFull = true
  delivery.add(22n, 1)
  expect(delivery.get().isKept).toBe(false)
  expect([...delivery.get().lines.keys()]).toEqual([21n, 22n])
  shelf.isFull = false
  for (const text of ['{', 'null', '[]', '[["x",1],[1,2],["3",-1],4]', '{"reference":7,"sent":7}']) {
    for (const name of shelf.texts.keys()) shelf.texts.set(name, text)
    expect(reload().delivery.get()).toMatchObject({ head: undefined, phase: 'open' })
    expect(reload().delivery.get().lines.size).toBe(0)
  }
})

test('the open line is part of the delivery from its scan on', async () => {
  const { delivery, reload } = open()
  delivery.open(31n)
  delivery.open(32n)
  delivery.setOpenAmount(12)
  expect([...reload().delivery.get().lines]).toEqual([
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
