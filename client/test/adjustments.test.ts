import { expect, test } from 'bun:test'
import { TestService } from '../../server/test/support/test-service.ts'
import { historyOf } from '../../server/test/support/whole-store.ts'
import { failureOf } from './support/failure-of.ts'
import { clientAt, clientOf, startClient } from './support/live-service.ts'

const ODD = 9007199254740993n
const LAST = 9223372036854775807n

test('one change returns one entry, and the history has its reason and reference', async () => {
  const { client, service } = await startClient()
  const adjustment = { reason: 'sold', reference: 'order 17' } as const
  const changes = [{ petId: ODD, delta: -2 }]
  expect(await client.inventory.adjust({ ...adjustment, changes })).toMatchObject({
    items: [{ petId: ODD, quantity: 5, status: 'available' }],
  })
  expect(await historyOf(service.store, ODD)).toMatchObject([{ before: 7, after: 5, ...adjustment }])
})

test('many changes return the entries in the order sent, with exact ids', async () => {
  const service = await TestService.start()
  const { items } = await clientOf(service).inventory.adjust({
    reason: 'counted',
    changes: [
      { petId: LAST, delta: 2 },
      { petId: 1n, quantity: 30, expected: 4 },
      { petId: ODD, delta: -7 },
    ],
  })
  expect(items).toEqual([
    { petId: LAST, quantity: 10, status: 'available' },
    { petId: 1n, quantity: 30, status: 'available' },
    { petId: ODD, quantity: 0, status: 'available' },
  ])
})

test('if changes fail, none is made, and the error lists all that failed', async () => {
  const service = await TestService.start()
  const before = await service.contents()
  const changes = [
    { petId: 1n, delta: -5 },
    { petId: ODD, delta: 1 },
    { petId: ODD - 1n, delta: 1 },
    { petId: LAST, quantity: 9, expected: 7 },
  ]
  const error = await failureOf(clientOf(service).inventory.adjust({ reason: 'received', changes }))
  expect(error).toMatchObject({
    code: 'not_found',
    status: 404,
    request: 'POST /inventory/adjustments',
    mayHaveBeenMade: false,
  })
  expect(error.message).toStartWith('3 changes cannot')
  expect(error.details.map(({ index, petId, code }) => [index, petId, code])).toEqual([
    [0, 1n, 'insufficient_stock'],
    [2, ODD - 1n, 'not_found'],
    [3, LAST, 'precondition_failed'],
  ])
  expect(await service.contents()).toEqual(before)
})

test('sell, receive and count book one line or many, with a reference', async () => {
  const service = await TestService.start()
  const { inventory } = clientOf(service)
  const sold = await inventory.sell({ petId: 1, quantity: 3 }, { reference: 'receipt 17' })
  expect(sold.items).toMatchObject([{ petId: 1n, quantity: 1 }])
  const delivery = [
    { petId: 1, quantity: 4 },
    { petId: ODD, quantity: 2 },
  ]
  const received = await inventory.receive(delivery, { reference: 'PO-1043' })
  expect(received.items.map(({ quantity }) => quantity)).toEqual([5, 9])
  const counted = await inventory.count({ petId: 1n, quantity: 6, expected: 5 })
  expect(counted.items).toMatchObject([{ quantity: 6 }])
  const stale = await failureOf(inventory.count([{ petId: 1n, quantity: 7, expected: 5 }]))
  expect(stale).toMatchObject({ code: 'precondition_failed', status: 412 })
  expect(await historyOf(service.store, 1n)).toMatchObject([
    { before: 4, after: 1, reason: 'sold', reference: 'receipt 17' },
    { before: 1, after: 5, reason: 'received', reference: 'PO-1043' },
    { before: 5, after: 6, reason: 'counted' },
  ])
})

test('sell never takes units that open orders reserve, and adjust may', async () => {
  const { client } = await startClient()
  await client.orders.create({ petId: ODD, quantity: 6 })
  await client.inventory.sell({ petId: ODD, quantity: 1 })
  const refused = await failureOf(client.inventory.sell({ petId: ODD, quantity: 1 }))
  expect(refused).toMatchObject({ name: 'InsufficientStockError', code: 'insufficient_stock', petId: ODD })
  const lost = await client.inventory.adjust({ reason: 'lost', changes: [{ petId: ODD, delta: -1 }] })
  expect(lost.items).toMatchObject([{ quantity: 5 }])
})

test('an adjustment is found, and reversed once', async () => {
  const { client } = await startClient()
  const lines = [{ petId: ODD, quantity: 2 }]
  const sold = await client.inventory.sell(lines, { reference: 'receipt 17' })
  const reversal = await client.adjustments.reverse(sold.id)
  expect(reversal).toMatchObject({ reverses: sold.id, items: [{ petId: ODD, quantity: 7 }] })
  expect(await client.adjustments.get(sold.id)).toMatchObject({ id: sold.id, reversedBy: [reversal.id] })
  const listed = await Array.fromAsync(client.adjustments.list({ petId: ODD, limit: 1 }))
  expect(listed.map(({ id }) => id).slice(0, 2)).toEqual([reversal.id, sold.id])
  const again = await failureOf(client.adjustments.reverse(sold.id))
  expect(again).toMatchObject({ code: 'already_reversed', status: 409 })
})

test('a sale or a delivery without units is refused before anything is sent', async () => {
  const { inventory } = clientAt('http://127.0.0.1:1/v1')
  for (const quantity of [0, -3, Number.NaN]) {
    await expect(inventory.sell({ petId: 1n, quantity })).rejects.toThrow('quantity must be at least 1')
    await expect(inventory.receive([{ petId: 1n, quantity }])).rejects.toThrow(RangeError)
  }
})
