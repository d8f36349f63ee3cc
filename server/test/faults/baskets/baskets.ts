import { nextPage } from '../../../../client/src/list.ts'
import { ORDER_STATES, ORDER_TRANSITIONS, stateRules } from '../../../src/core/orders/order.ts'
import { Random } from '../../sim/random.ts'
import { until } from '../../support/until.ts'
import {
  BasketCallers,
  type BasketCounts,
  type BasketLine,
  type BasketOrder,
  type KnownOrder,
  linesText,
  OVERRIDDEN_PET,
} from './basket-callers.ts'
import { type BasketEvent, BasketLog } from './basket-log.ts'
import { BASKET_PETS, type BasketShop } from './basket-shop.ts'

const CALLERS = 64
const WATCH_MS = 200
/** Longer than an expired hold waits for its release. */
const RELEASE_MS = 30_000

interface BasketOptions {
  readonly seed: number
  readonly isOver: (counts: BasketCounts) => boolean
  /** Units of each pet at the beginning: few, so that baskets are refused, or enough for all. */
  readonly units: number
  /** How many requests are answered between two crashes; without it, nothing crashes. */
  readonly crashEvery?: readonly [low: number, high: number]
}

export interface BasketReport {
  readonly counts: BasketCounts & BasketLog['counts']
  readonly crashes: ReadonlyMap<string, number>
  readonly violations: readonly string[]
}

interface Adjustment {
  readonly id: number
  readonly orderId?: number
  readonly reverses?: number
  readonly lines: readonly {
    readonly petId: number
    readonly before: number
    readonly after: number
    readonly delta: number
  }[]
}

interface Stock {
  readonly petId: number
  readonly quantity: number
  readonly reserved: number
  readonly available: number
}

/** Sells baskets while everything crashes, then compares the answers, the orders, the adjustments, the log and the stock. */
export async function runBaskets(
  shop: BasketShop,
  { seed, isOver, units, crashEvery }: BasketOptions,
): Promise<BasketReport> {
  const callers = new BasketCallers(shop, seed)
  const start = await readEventId(shop)
  await callers.receive(BASKET_PETS.map((petId) => ({ petId, quantity: units })))
  const violations = new Set<string>()
  const crashes = new Map<string, number>()
  let isRunning = true
  const watching = watch(shop, violations, () => isRunning)
  const crashing = crashEvery === undefined ? undefined : crashAgainAndAgain(crashEvery)
  await callers.run(CALLERS, isOver)
  isRunning = false
  await Promise.all([watching, crashing])
  const { log, orders, differences } = await compareWithLog(shop, start, callers.orders)
  const adjustments = await readAll<Adjustment>(shop, '/inventory/adjustments?limit=200')
  const found = [
    ...violations,
    ...callers.violations,
    ...log.violations,
    ...differences,
    ...checkSales(callers.orders, orders, adjustments),
    ...checkQuantities(adjustments, log),
    ...(await shop.findDamage()),
  ]
  const deadlocks = shop.countDeadlocks()
  if (deadlocks > 0) found.push(`PostgreSQL ended ${deadlocks} deadlocks`)
  return { counts: { ...callers.counts, ...log.counts }, crashes, violations: found }

  async function crashAgainAndAgain([low, high]: readonly [number, number]): Promise<void> {
    const random = new Random(seed)
    while (isRunning) {
      const answers = callers.answers + random.integer(low, high)
      await until(() => callers.answers >= answers || !isRunning)
      if (!isRunning) return
      const what = await shop.crash(random)
      crashes.set(what, (crashes.get(what) ?? 0) + 1)
    }
  }
}

const RESERVING_STATES = ORDER_STATES.filter((state) => stateRules(state).reserves)

/** Pets whose reserved units are not those of their lines, in one snapshot. */
const WRONG_RESERVATIONS = `SELECT pet_id, quantity, reserved FROM stock WHERE quantity < 0 OR reserved <> (
  SELECT coalesce(sum(order_lines.quantity), 0) FROM order_lines WHERE order_lines.pet_id = stock.pet_id
    AND state IN (${RESERVING_STATES.map((state) => `'${state}'`).join(', ')}))`

/** Looks at the stock again and again. A database or an instance that is away says nothing. */
async function watch(shop: BasketShop, violations: Set<string>, isRunning: () => boolean): Promise<void> {
  while (isRunning()) {
    const [wrong, stock] = await Promise.all([
      shop.database.run(WRONG_RESERVATIONS).catch(() => []),
      readStock(shop).catch(() => []),
    ])
    for (const row of wrong) violations.add(`reserved units differ from the lines: ${Bun.inspect(row)}`)
    for (const { petId, quantity, available } of stock) {
      if (quantity < 0 || (available < 0 && petId !== OVERRIDDEN_PET)) {
        violations.add(`pet ${petId} is oversold: quantity ${quantity}, available ${available}`)
      }
    }
    await Bun.sleep(WATCH_MS)
  }
}

/** The log and all orders. Waits until they agree: a hold may expire after the log was read. */
async function compareWithLog(shop: BasketShop, start: string, known: ReadonlyMap<number, KnownOrder>) {
  const deadline = performance.now() + RELEASE_MS
  for (;;) {
    const log = await readLog(shop, start)
    const orders = (await Promise.all(ORDER_STATES.map((state) => listOrders(shop, state)))).flat()
    const differences = compareOrders(known, orders, log)
    if (differences.length === 0 || performance.now() >= deadline) return { log, orders, differences }
  }
}

/** The whole log. Waits until it has the end of every expired hold, and so agrees with the stock. */
async function readLog(shop: BasketShop, start: string): Promise<BasketLog> {
  const log = new BasketLog()
  const deadline = performance.now() + RELEASE_MS
  for (let after = start; ; await Bun.sleep(WATCH_MS)) {
    for (const event of await readAll<BasketEvent>(shop, `/events?limit=1000&after=${after}`, 'after')) {
      if (event.kind !== 'ready') log.play(event)
      after = event.id
    }
    const stock = await readStock(shop)
    const differences = stock.filter(
      ({ petId, quantity, reserved }) =>
        quantity !== log.quantityOf(petId) || reserved !== log.reservedOf(petId),
    )
    if (differences.length === 0) return log
    if (performance.now() < deadline) continue
    log.violations.push(
      ...differences.map(
        (entry) =>
          `the log has ${log.quantityOf(entry.petId)} and ${log.reservedOf(entry.petId)} reserved, not ${Bun.inspect(entry)}`,
      ),
    )
    return log
  }
}

/** Every order is known, and as the answers and the log say. */
function compareOrders(
  known: ReadonlyMap<number, KnownOrder>,
  orders: readonly BasketOrder[],
  log: BasketLog,
): string[] {
  const stored = new Map(orders.map((order) => [order.id, order]))
  const lost = known.keys().filter((id) => !stored.has(id))
  return [
    ...lost.map((id) => `order ${id} is lost`),
    ...orders.flatMap((order) => {
      const { id, lines, state } = order
      const answers = known.get(id)
      const logged = log.orders.get(id)
      if (answers === undefined) return `nobody was told about order ${id}`
      const { versions, isSold, isCancelled, sales } = answers
      const text = Bun.inspect(order)
      const { isComplete } = stateRules(state)
      return [
        ...(versions.has(linesText(lines)) ? [] : [`nobody ordered these lines: ${text}`]),
        ...(logged?.state === state && linesText(logged.lines) === linesText(lines)
          ? []
          : [`the log has ${Bun.inspect(logged)} instead of ${text}`]),
        ...(isComplete === isSold ? [] : [`the sale was ${isSold ? '' : 'not '}answered: ${text}`]),
        ...(isCancelled && state !== ORDER_TRANSITIONS.cancelled.to ? [`it was cancelled: ${text}`] : []),
        ...(sales > 1 ? [`it was sold ${sales} times: ${text}`] : []),
      ]
    }),
  ]
}

/** A complete order has one adjustment with exactly its lines, and its returns are what was answered. */
function checkSales(
  known: ReadonlyMap<number, KnownOrder>,
  orders: readonly BasketOrder[],
  adjustments: readonly Adjustment[],
): string[] {
  const byOrder = Map.groupBy(adjustments, ({ orderId }) => orderId)
  return orders.flatMap((order) => {
    const { id, lines, state, adjustmentId } = order
    const documents = byOrder.get(id) ?? []
    const sales = documents.filter(({ reverses }) => reverses === undefined)
    if (!stateRules(state).isComplete) {
      return documents.length === 0 ? [] : [`${Bun.inspect(order)} has ${Bun.inspect(documents)}`]
    }
    const sold = sales.flatMap((sale) => sale.lines.map(toUnits(-1)))
    const isOneSale =
      sales.length === 1 && sales[0]?.id === adjustmentId && linesText(sold) === linesText(lines)
    const wrongReturns = lines.filter(({ petId, returned }) => {
      const reversals = documents.filter(({ reverses }) => reverses !== undefined)
      const reversed = reversals
        .flatMap((reversal) => reversal.lines.map(toUnits(1)))
        .filter((line) => line.petId === petId)
        .reduce((sum, { quantity }) => sum + quantity, 0)
      return returned !== reversed || returned !== (known.get(id)?.returned.get(petId) ?? 0)
    })
    return [
      ...(isOneSale ? [] : [`${Bun.inspect(order)} was sold by ${Bun.inspect(sales)}`]),
      ...wrongReturns.map((line) => `order ${id} has other returns than ${Bun.inspect(line)}`),
    ]
  })
}

const toUnits =
  (sign: 1 | -1) =>
  ({ petId, delta }: Adjustment['lines'][number]): BasketLine => ({ petId, quantity: sign * delta })

/** The stock is the sum of its documents. */
function checkQuantities(adjustments: readonly Adjustment[], log: BasketLog): string[] {
  const lines = adjustments.flatMap((adjustment) => adjustment.lines)
  return BASKET_PETS.flatMap((petId) => {
    const ofPet = lines.filter((line) => line.petId === petId)
    const sum = ofPet.reduce((total, { before, after }) => total + after - before, 0)
    const quantity = log.quantityOf(petId)
    return sum === quantity ? [] : [`pet ${petId} has ${quantity}, but its adjustments sum up to ${sum}`]
  })
}

function listOrders(shop: BasketShop, state: string): Promise<BasketOrder[]> {
  return readAll(shop, `/store/orders?state=${state}&limit=1000`)
}

async function readStock(shop: BasketShop): Promise<Stock[]> {
  return (await read(shop, `/inventory/availability?petIds=${BASKET_PETS.join(',')}`)).json()
}

async function readEventId(shop: BasketShop): Promise<string> {
  return (await read(shop, '/events')).headers.get('Event-Id') ?? ''
}

/** The items of all pages. */
async function readAll<Item>(shop: BasketShop, path: string, parameter = 'cursor'): Promise<Item[]> {
  const items: Item[] = []
  const page = new URL(path, 'http://any')
  for (;;) {
    const response = await read(shop, page.pathname + page.search)
    for (const item of await response.json()) items.push(item)
    const next = nextPage(response.headers, parameter)
    if (next === undefined) return items
    page.searchParams.set(parameter, next)
  }
}

/** After a crash, an instance may need a moment to reach its database. */
async function read(shop: BasketShop, path: string): Promise<Response> {
  const [address] = shop.addresses
  for (;;) {
    const response = await fetch(`${address}/v1${path}`, { headers: { Authorization: `Bearer ${shop.key}` } })
    if (response.ok) return response
    const text = await response.text()
    if (response.status !== 503) throw new Error(`GET ${path} was answered ${response.status} ${text}`)
    await Bun.sleep(WATCH_MS)
  }
}
