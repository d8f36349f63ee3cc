import { afterAll, beforeAll, expect, setSystemTime, test } from 'bun:test'
import { TestService } from '../../../../server/test/support/test-service.ts'
import { KeptWork } from '../../../src/staff-page/data/kept-work.ts'
import { DeliveryDesk } from '../../../src/staff-page/receive/delivery-desk.ts'
import { breakOff, Desk, idsFrom } from '../../support/desk.ts'
import { Shelf } from '../../support/shelf.ts'

const PETS = 1_100

let service: TestService

beforeAll(async () => {
  const pets = idsFrom(1, PETS).map((id) => ({
    ...{ id, name: `Pet ${id}`, categoryId: 1n },
    ...{ status: 'available' as const, quantity: 10 },
  }))
  service = await TestService.start({ pets, realTime: true })
})

afterAll(() => service.stop())

const inStock = async (petId: bigint) => (await service.call('GET', `/inventory/${petId}`)).item.quantity

/** A page, and how it is opened once more in the same browser. */
function open(shelf = new Shelf(), ownerId = 'key_1') {
  const page = new Desk(service).open(PETS)
  const kept = new KeptWork(ownerId, 'receive', shelf)
  const delivery = new DeliveryDesk({ saving: page.saving, undo: page.undo, kept })
  return { page, shelf, delivery, reload: () => open(shelf, ownerId) }
}

test('the same pet adds up, and all of it is one request that the history explains and that can be undone', async () => {
  const { page, shelf, delivery } = open()
  delivery.add(1n, 3)
  delivery.add(2n, 5)
  delivery.add(1n, 4)
  delivery.setReference(' PO-1043 ')
  expect(delivery.get().lines).toEqual([
    { petId: 1n, amount: 7 },
    { petId: 2n, amount: 5 },
  ])
  // Whatever others do meanwhile: it is added to what is there then.
  await service.setQuantity(2n, '{"quantity":1}')
  await delivery.book()
  expect([await inStock(1n), await inStock(2n)]).toEqual([17, 6])
  expect(page.sent).toHaveLength(1)
  expect(delivery.get()).toMatchObject({
    ...{ phase: 'open', lines: [], reference: '', sent: undefined },
    received: { pets: 2, pieces: 12, reference: 'PO-1043' },
  })
  expect(shelf.texts.size).toBe(0)
  const { json } = await service.call('GET', '/inventory/1/history')
  expect(json).toMatchObject([{ before: 10, after: 17, reason: 'received', reference: 'PO-1043' }])
  expect(page.undo.get()).toMatchObject([{ reference: 'PO-1043', changes: [{ petId: 1n }, { petId: 2n }] }])
  delivery.add(3n, 1)
  expect(delivery.get().received).toBeUndefined()
})

test('a lost answer is asked for with the same key, also after a reload, and is received once', async () => {
  const { page, delivery, reload } = open()
  delivery.add(11n, 4)
  page.beforeAnswer = breakOff
  await delivery.book()
  expect(delivery.get()).toMatchObject({ phase: 'unsettled', lines: [{ petId: 11n, amount: 4 }] })
  // What was sent must stay as it was sent.
  delivery.add(12n, 1)
  delivery.setReference('another')
  await delivery.book()
  const again = reload()
  expect(again.delivery.get()).toMatchObject({ phase: 'unsettled', lines: [{ petId: 11n, amount: 4 }] })
  await again.delivery.book()
  expect(again.delivery.get()).toMatchObject({ phase: 'open', lines: [], received: { pieces: 4 } })
  expect(new Set([...page.sent, ...again.page.sent].map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
  expect(await inStock(11n)).toBe(14)
})

test('one that never arrived is received when it is asked for', async () => {
  const { page, delivery } = open()
  delivery.add(13n, 4)
  page.beforeSending = breakOff
  await delivery.book()
  expect([delivery.get().phase, await inStock(13n)]).toEqual(['unsettled', 10])
  page.beforeSending = () => {}
  await delivery.book()
  expect([delivery.get().phase, await inStock(13n)]).toEqual(['open', 14])
})

test('a day later the service has forgotten it, so somebody has to look before it is sent anew', async () => {
  const { page, delivery, reload } = open()
  delivery.add(14n, 4)
  page.beforeAnswer = breakOff
  await delivery.book()
  setSystemTime(Date.now() + 24 * 60 * 60 * 1_000)
  try {
    const seen = reload()
    expect(seen.delivery.get().phase).toBe('forgotten')
    await seen.delivery.book()
    expect(seen.page.sent).toEqual([])
    const unseen = reload()
    await unseen.delivery.sendAnew()
    expect([unseen.page.sent.length, await inStock(14n)]).toEqual([1, 18])
    expect(unseen.page.sent[0]?.idempotencyKey).not.toBe(page.sent[0]?.idempotencyKey ?? null)
  } finally {
    setSystemTime()
  }
})

test('a pet that is gone keeps all of it from being booked, and is named', async () => {
  const { page, delivery } = open()
  delivery.add(15n, 1)
  delivery.add(2_000n, 1)
  await delivery.book()
  expect(await inStock(15n)).toBe(10)
  expect(delivery.get()).toMatchObject({ phase: 'open', sent: undefined })
  expect([...delivery.get().refused]).toEqual([[2_000n, 'This pet is not in the store any more.']])
  delivery.remove(2_000n)
  expect(delivery.get().refused.size).toBe(0)
  await delivery.book()
  expect([await inStock(15n), new Set(page.sent.map(({ idempotencyKey }) => idempotencyKey)).size]).toEqual([
    11, 2,
  ])
})

test('1,000 pets go at once, and one more is refused kindly', async () => {
  const { page, delivery } = open()
  for (const petId of idsFrom(101, 1_100)) expect(delivery.add(petId, 2)).toBeUndefined()
  expect(delivery.add(1n, 1)).toMatch(/^This delivery has 1,000 pets, .* begin another one\.$/)
  expect(delivery.add(101n, Number.MAX_SAFE_INTEGER)).toMatch(/more than there can be/)
  expect(delivery.add(101n, 1)).toBeUndefined()
  await delivery.book()
  expect(page.sent).toHaveLength(1)
  expect([await inStock(101n), await inStock(1_100n)]).toEqual([13, 12])
})

test('what is under way belongs to one key, survives nonsense beside it, and tells where it cannot be kept', async () => {
  const { shelf, delivery, reload } = open()
  delivery.add(21n, 4)
  delivery.setReference('PO-7')
  delivery.setAmount(21n, 5)
  expect(reload().delivery.get()).toMatchObject({ lines: [{ petId: 21n, amount: 5 }], reference: 'PO-7' })
  expect(open(shelf, 'key_2').delivery.get().lines).toEqual([])
  expect([...shelf.texts].join()).not.toContain(service.key)
  shelf.isFull = true
  delivery.add(22n, 1)
  expect(delivery.get()).toMatchObject({ isKept: false, lines: [{ petId: 22n }, { petId: 21n }] })
  shelf.isFull = false
  for (const name of shelf.texts.keys()) {
    for (const text of ['{', 'null', '[]', '{"lines":[["x",1],[1,2],["3",-1],4],"sent":7}']) {
      shelf.texts.set(name, text)
      expect(reload().delivery.get()).toMatchObject({ lines: [], reference: '', phase: 'open' })
    }
  }
})
