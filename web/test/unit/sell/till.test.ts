import { afterAll, expect, test } from 'bun:test'
import { KeptWork } from '../../../src/staff-page/data/kept-work.ts'
import { newSale, SaleQueue } from '../../../src/staff-page/data/sales/sale-queue.ts'
import { hideAllToasts } from '../../../src/staff-page/data/toasts.ts'
import { Till } from '../../../src/staff-page/sell/till.ts'
import { useService } from '../../support/desk.ts'
import { petsNumbered } from '../../support/pets.ts'
import { Shelf } from '../../support/shelf.ts'

const PETS = 9
const { inStock, openDesk } = useService({ pets: petsNumbered(PETS) })

afterAll(hideAllToasts)

/** A till in a browser of its own. */
function open() {
  const page = openDesk().open(PETS)
  const shelf = new Shelf()
  const queue = new SaleQueue(page.saving, new KeptWork('key_1', 'sales', shelf, 1))
  const till = new Till(page.saving, new KeptWork('key_1', 'sell', shelf), queue)
  return { page, shelf, queue, till }
}

test('a scan while a sale is being booked opens the next basket, with the next receipt', async () => {
  const { page, queue, till } = open()
  const answer = Promise.withResolvers<void>()
  page.beforeAnswer = () => answer.promise
  till.add(1n, 2)
  const { receipt } = till.get()
  const selling = till.sell()
  till.add(2n)
  expect(till.get().lines).toEqual([{ petId: 2n, quantity: 1 }])
  expect(till.get().receipt).toBe(receipt.replace(/001$/, '002'))
  answer.resolve()
  await selling
  expect(till.get().lines).toEqual([{ petId: 2n, quantity: 1 }])
  expect([await inStock(1n), await inStock(2n), queue.get()]).toEqual([8, 10, []])
})

test('a sale ends with its own answer, whatever the next one waits for', async () => {
  const { page, till } = open()
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
  const { queue, till } = open()
  till.add(5n, 11)
  const { receipt } = till.get()
  await till.sell()
  expect(till.get()).toMatchObject({ lines: [{ petId: 5n, quantity: 11 }], receipt })
  expect(till.get().refused.get(5n)).toMatchObject({ why: 'Only 10 free.' })
  expect(queue.get()).toEqual([])

  const selling = till.sell()
  till.add(6n)
  await selling
  expect(till.get().lines).toEqual([{ petId: 6n, quantity: 1 }])
  expect(queue.get()).toMatchObject([{ receipt, refusal: { pets: [{ petId: 5n }] } }])
  expect(till.get().receipt).toBe(receipt.replace(/001$/, '002'))
})

test('the quantity 0 removes a line, and an empty basket has no receipt', () => {
  const { till } = open()
  till.add(7n)
  till.add(8n)
  till.setReceipt('for Lopez')
  till.setQuantity(7n, 0)
  expect(till.get()).toMatchObject({ lines: [{ petId: 8n, quantity: 1 }], receipt: 'for Lopez' })
  till.clear()
  till.add(9n)
  expect(till.get().receipt).toMatch(/^R-\d{6}-\w\w-001$/)
})

test('a receipt that a person typed uses no number', async () => {
  const { till } = open()
  till.add(7n)
  const { receipt } = till.get()
  till.setReceipt('R-7')
  await till.sell()
  till.add(7n)
  expect(till.get().receipt).toBe(receipt)
  till.setReceipt('')
  await till.sell()
  till.add(7n)
  expect(till.get().receipt).toBe(receipt.replace(/001$/, '002'))
})

test('a sale that waited for more than 30 days is refused, and booked as of now if it is tried again', async () => {
  const { queue } = open()
  const sale = newSale([{ petId: 8n, quantity: 1 }], 'R-8', Date.now() - 31 * 24 * 60 * 60 * 1_000)
  await queue.retry(sale)
  expect(queue.get()).toMatchObject([
    { refusal: { message: expect.stringMatching(/^It happened too long/) } },
  ])
  for (const refused of queue.get()) await queue.retry(refused)
  expect([await inStock(8n), queue.get()]).toEqual([9, []])
})

test('a sale that is tried again is booked at its own time, so a later count stays right', async () => {
  const { page, queue } = open()
  const sale = newSale([{ petId: 9n, quantity: 1 }], 'R-9', Date.now() - 60_000)
  await page.saving.client.inventory.count({ petId: 9n, quantity: 4 })
  await queue.retry(sale)
  expect([await inStock(9n), queue.get()]).toEqual([4, []])
})
