import { expect, test } from 'bun:test'
import type { Order, OrderState } from '@petstore/client'
import { LiveChanges } from '../../../src/staff-page/data/history/live-changes.ts'
import { MAX_OPEN_ORDERS, OpenOrders } from '../../../src/staff-page/data/orders/open-orders.ts'
import {
  type OrderQuery,
  type OrderReads,
  searchOrders,
} from '../../../src/staff-page/data/orders/order-search.ts'
import { leftWords } from '../../../src/staff-page/data/orders/order-words.ts'
import { StockModel } from '../../../src/staff-page/data/stock/stock-model.ts'
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

/** Orders on pages, of which the service returns one for each request. */
function pagesOf(...pages: readonly (readonly Order[])[]) {
  const asked: OrderQuery[] = []
  const reads: OrderReads = {
    list: (query) => {
      asked.push(query)
      const page = Number(query.cursor ?? 0)
      const next = page + 1 < pages.length ? String(page + 1) : undefined
      return Object.assign(Promise.resolve({ items: pages[page] ?? [], next }), {
        async *[Symbol.asyncIterator]() {},
      })
    },
    get: async (id) => order(Number(id), 'cancelled'),
  }
  return { asked, reads }
}

test('a search for a number has that order first, in any state, and then those of the customer', async () => {
  const { asked, reads } = pagesOf([order(17), order(20)])
  const found = await searchOrders(reads, { kind: 'open', query: '#20', petId: 1n }).load(undefined, signal)
  expect(found.items.map(({ id, state }) => `${id} ${state}`)).toEqual(['20 cancelled', '17 open'])
  expect(asked).toMatchObject([{ state: 'open', customer: '#20', petId: 1n }])
})

test('holds are picked from the open orders, page by page, until some are found or enough were examined', async () => {
  const held = { ...order(9), expiresAt: '2026-11-16T13:00:00Z' }
  const search = (...pages: readonly (readonly Order[])[]) => {
    const { asked, reads } = pagesOf(...pages)
    const { load } = searchOrders(reads, { kind: 'held', query: '', petId: undefined })
    return load(undefined, signal).then(({ items, next }) => [items.map(({ id }) => id), next, asked.length])
  }
  expect(await search([order(1)], [order(2), held], [order(3)])).toEqual([[9n], '2', 2])
  expect(await search(...Array.from({ length: 8 }, (_, index) => [order(index)]))).toEqual([[], '5', 5])
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
