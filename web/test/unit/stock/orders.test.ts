import { expect, test } from 'bun:test'
import type { Order, OrderState } from '@petstore/client'
import { LiveChanges } from '../../../src/staff-page/data/history/live-changes.ts'
import { LiveList } from '../../../src/staff-page/data/live-list.ts'
import { MAX_OPEN_ORDERS, OpenOrders } from '../../../src/staff-page/data/orders/open-orders.ts'
import { orderListSource } from '../../../src/staff-page/data/orders/order-list.ts'
import { type OrderQuery, searchOrders } from '../../../src/staff-page/data/orders/order-search.ts'
import { leftWords } from '../../../src/staff-page/data/orders/order-words.ts'
import { StockModel } from '../../../src/staff-page/data/stock/stock-model.ts'
import type { ReadPage } from '../../../src/staff-page/data/stock/stock-search.ts'
import { fillStock } from '../../support/desk.ts'

function order(id: number, state: OrderState = 'open', petId = 1n): Order {
  const createdAt = '2026-11-16T12:00:00Z'
  return { id: BigInt(id), petId, quantity: 2, state, complete: state === 'complete', createdAt }
}

/** A service whose responses wait for `answer`. */
class SlowService {
  readonly asked: OrderQuery[] = []
  readonly #orders: readonly Order[]
  #answer = () => {}

  constructor(orders: readonly Order[]) {
    this.#orders = orders
  }

  readonly list = (query: OrderQuery): AsyncIterable<Order> => this.#pages(query)

  readonly get = async (): Promise<Order> => {
    throw new Error('no test requests a single order')
  }

  /** Sends the response to the pending request, with the state at the time of the request. */
  async answer(): Promise<void> {
    await Bun.sleep(0)
    this.#answer()
    for (let turn = 0; turn < 5; turn++) await Bun.sleep(0)
  }

  async *#pages(query: OrderQuery): AsyncGenerator<Order> {
    const fitting = this.#orders.filter(({ state }) => state === (query.state ?? state))
    for (let from = 0; from === 0 || from < fitting.length; from += query.limit) {
      this.asked.push(query)
      await new Promise<void>((resolve) => {
        this.#answer = resolve
      })
      yield* fitting.slice(from, from + query.limit)
    }
  }
}

function stocked(): StockModel {
  const stock = new StockModel()
  stock.take([
    { petId: 1n, quantity: 9, status: 'available' },
    { petId: 2n, quantity: 9, status: 'available' },
  ])
  return stock
}

const signal = new AbortController().signal
const named = (stock: StockModel) => stock.endLoading()

test('open orders are loaded after the names, and give the reserved units of each pet', async () => {
  const stock = stocked()
  const service = new SlowService([order(1), order(2), order(3, 'open', 2n), order(4, 'complete')])
  const open = new OpenOrders({ orders: service, stock, live: new LiveChanges(), signal })
  open.start()
  stock.setConnection('live')
  await Bun.sleep(1)
  expect(service.asked).toEqual([])
  named(stock)
  await service.answer()
  expect(open.get()).toBe('ready')
  expect([stock.find(1n)?.reserved, stock.find(2n)?.reserved]).toEqual([4, 2])
  stock.apply({ petId: 3n, quantity: 1, status: 'available' }, false)
  fillStock(stock, [{ petId: 1n, quantity: 5, status: 'sold' }])
  expect(stock.find(1n)).toMatchObject({ quantity: 5, reserved: 4 })
})

test('an order that changes while they load counts once, whether the response has the change or not', async () => {
  const stock = stocked()
  const live = new LiveChanges<Order>()
  const service = new SlowService([order(1), order(2)])
  const open = new OpenOrders({ orders: service, stock, live, signal })
  open.start()
  named(stock)
  const tell = (change: Order) => live.publish({ type: 'change', change })
  tell(order(1, 'cancelled'))
  tell(order(2))
  tell(order(3))
  await service.answer()
  expect(stock.find(1n)?.reserved).toBe(4)
  tell(order(3))
  tell(order(3, 'complete'))
  tell(order(3, 'complete'))
  tell(order(4, 'expired'))
  expect(stock.find(1n)?.reserved).toBe(2)
  // After a gap, all of them are loaded again.
  live.publish({ type: 'missed' })
  await service.answer()
  expect(stock.find(1n)?.reserved).toBe(4)
})

test('if there are too many open orders, every pet keeps the reserved units that it was loaded with', async () => {
  const stock = stocked()
  stock.take([{ petId: 1n, quantity: 9, status: 'available', reserved: 3 }])
  const service = new SlowService(Array.from({ length: MAX_OPEN_ORDERS + 1 }, (_, index) => order(index)))
  const live = new LiveChanges<Order>()
  const open = new OpenOrders({ orders: service, stock, live, signal })
  open.start()
  named(stock)
  while (open.get() === 'loading') await service.answer()
  expect(open.get()).toBe('too many')
  live.publish({ type: 'change', change: order(1, 'cancelled') })
  expect(stock.find(1n)?.reserved).toBe(3)
  expect(service.asked.length).toBeLessThanOrEqual(MAX_OPEN_ORDERS / 1_000 + 1)
})

const readNoPets = async () => ({ items: [], next: undefined })

function listOf(orders: readonly Order[], kind: 'open' | 'held' = 'open') {
  const service = new SlowService(orders)
  const source = searchOrders(service, { kind, query: '' }, new StockModel(), readNoPets)
  const list = new LiveList(orderListSource(source, new LiveChanges<Order>()))
  list.follow()
  const tell = (order: Order) => list.apply(order)
  const ids = () => list.get().rows.map(({ id, state }) => `${id} ${state}`)
  return { service, list, tell, ids, stop: () => list.stop() }
}

test('a large store is searched by the service for the pets of a name, which the page does not hold', async () => {
  const stock = new StockModel()
  stock.endLoading()
  const state = { categoryId: 1n, status: 'available', quantity: 4, reserved: 1, available: 3 } as const
  const asked: unknown[] = []
  const readPets: ReadPage = async (query) => {
    asked.push(query)
    return { items: [{ petId: 7n, name: 'Zebra finch', ...state }], next: undefined }
  }
  const orders = [order(1), order(2, 'open', 7n)]
  async function* list({ petId }: OrderQuery): AsyncGenerator<Order> {
    yield* orders.filter((each) => each.petId === petId)
  }
  const get = () => Promise.reject(new Error('no test requests a single order'))
  const source = searchOrders({ list, get }, { kind: 'open', query: 'zebra' }, stock, readPets)
  const found: bigint[] = []
  for await (const each of source.read(signal)) if (source.fits(each)) found.push(each.id)
  expect(asked).toEqual([{ q: 'zebra' }])
  expect(found).toEqual([2n])
})

test('a page that is older than an event does not undo it', async () => {
  const { service, tell, ids, stop } = listOf([order(1), order(2)])
  tell(order(1, 'complete'))
  tell(order(3))
  await service.answer()
  // It was open when the page was read, so it is in the list, in its new state.
  expect(ids()).toEqual(['1 complete', '2 open', '3 open'])
  tell(order(1))
  expect(ids()).toEqual(['1 complete', '2 open', '3 open'])
  stop()
})

test('a closed order stays until the user hides it; an order beyond the last page does not show', async () => {
  const many = Array.from({ length: 150 }, (_, index) => order(2 * (index + 1)))
  const { service, list, tell, stop } = listOf(many)
  await service.answer()
  expect(list.get()).toMatchObject({ next: expect.anything(), isLoading: false })
  expect(list.get().rows).toHaveLength(100)
  tell(order(1))
  tell(order(299))
  tell(order(2, 'cancelled'))
  expect(list.get().rows).toHaveLength(101)
  list.hideSettled()
  expect(
    list
      .get()
      .rows.map(({ id }) => id)
      .slice(0, 2),
  ).toEqual([1n, 4n])
  void list.loadMore()
  await service.answer()
  expect(list.get()).toMatchObject({ next: undefined })
  expect(list.get().rows).toHaveLength(150)
  stop()
})

test('a search that finds little stops after some thousands, and reports how many it has examined', async () => {
  const many = Array.from({ length: 12_000 }, (_, index) => order(index))
  const { service, list, stop } = listOf(many, 'held')
  while (list.get().isLoading) await service.answer()
  expect(service.asked).toHaveLength(5)
  expect(list.get()).toMatchObject({ rows: [], next: expect.anything(), examined: 4_999 })
  stop()
})

test.each([
  [-5_000, '0:00'],
  [0, '0:00'],
  [1, '0:01'],
  [59_001, '1:00'],
  [3_599_000, '59:59'],
  [7_147_000, '1:59:07'],
  [86_399_000, '23:59:59'],
  [2_592_000_000, '30 d 0 h'],
])('%p ms are %j', (ms, words) => {
  expect(leftWords(ms)).toBe(words)
})
