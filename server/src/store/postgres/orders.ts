import type { SQL } from 'bun'
import { MAX_HOLDS_ENDED, type OrdersFound } from '../../core/orders/changing-orders.ts'
import { isOver, type Order } from '../../core/orders/order.ts'
import { petIdsOf, type StockRequest, sizeOf } from '../../core/stock/stock-request.ts'
import { isHoldOver, ORDER_FIELDS, type OrderRecord, toOrder } from '../order-rows.ts'
import type { StoreClock } from '../sql.ts'
import { numbersFor, numbersIn, takenLogNumbers } from './dialect.ts'
import { arrayOf } from './parameters.ts'
import { storeTime } from './store-clock.ts'

/** The time and what was taken of sequences; and an order where there is one to tell of. */
type FoundRow = { readonly now: bigint; readonly new_ids: string; readonly log_numbers: string } & (
  | OrderRecord
  | { readonly id: null }
)

/** One order at least is to be told of by its id. */
const NAMED = `SELECT ${ORDER_FIELDS} FROM orders WHERE id = ANY ($5::bigint[]) UNION`

/**
 * The holds of the pets that are named which are over, and orders that are named. Ids are taken while the pets are
 * locked: see log_ids.
 */
const find = (named: string) => `
  WITH clock AS MATERIALIZED (
    SELECT ${storeTime('$2')} AS now,
      own_ids('order_ids', $3::bigint)::text AS new_ids,
      ${takenLogNumbers('$4')} AS log_numbers
  )
  SELECT clock.*, found.* FROM clock LEFT JOIN (
    ${named} (SELECT ${ORDER_FIELDS} FROM orders
      WHERE pet_id = ANY ($1::bigint[]) AND ${isHoldOver('(SELECT now FROM clock)')} LIMIT ${MAX_HOLDS_ENDED})
  ) AS found ON true`
const FIND = find('')
const FIND_NAMED = find(NAMED)

/**
 * It begins once the pets that are named are locked. Whoever changes an order has locked its pet: so orders need no lock of
 * their own.
 */
export function readOrders(sql: SQL, requests: readonly StockRequest[], clock: StoreClock) {
  const named = requests.flatMap((request) => ('orderId' in request ? [request.orderId] : []))
  const creations = requests.filter((request) => 'draft' in request).length
  const numbers = [creations, numbersFor(maxRowsOf(requests))].map(BigInt)
  const values = [arrayOf(petIdsOf(requests), (id) => id), clock.given(), ...numbers]
  return named.length === 0
    ? sql.unsafe<FoundRow[]>(FIND, values).execute()
    : sql.unsafe<FoundRow[]>(FIND_NAMED, [...values, arrayOf(named, (id) => id)]).execute()
}

/** A request leaves three rows in the log at the most, beside the holds that end, of which each may cross a threshold. */
export function maxRowsOf(requests: readonly StockRequest[]): number {
  return requests.reduce((sum, request) => sum + 3 * sizeOf(request), 2 * MAX_HOLDS_ENDED)
}

/** An order of a pet that is not locked was not there when its pet was looked up. */
export function toOrdersFound(
  rows: readonly FoundRow[],
  isLocked: (petId: bigint) => boolean,
): OrdersFound & { readonly logNumbers: readonly bigint[] } {
  const [first] = rows
  if (first === undefined) throw new Error('the database did not tell the time')
  const now = Number(first.now)
  const orders = rows.flatMap((row) => (row.id === null ? [] : [toOrder(row)]))
  return {
    now,
    ...{ newIds: numbersIn(first.new_ids), logNumbers: numbersIn(first.log_numbers) },
    orders: new Map(orders.map((order) => [order.id, order])),
    over: orders.filter((order) => isOver(order, now) && isLocked(order.petId)),
  }
}

/** Those that were there before; new ones are added with what happened to them. */
export function writeChangedOrders(sql: SQL, changed: readonly Order[]): Promise<unknown> {
  return sql`
    UPDATE orders SET quantity = now.quantity, state = now.state, ship_date = now.ship_date
    FROM unnest(
      ${arrayOf(changed, ({ id }) => id)}::bigint[],
      ${arrayOf(changed, ({ quantity }) => quantity)}::bigint[],
      ${arrayOf(changed, ({ state }) => state)}::text[],
      ${arrayOf(changed, ({ shipDate }) => shipDate)}::bigint[]
    ) AS now (id, quantity, state, ship_date) WHERE orders.id = now.id`.execute()
}
