import type { SQL } from 'bun'
import { isExpired, type Order } from '../../core/orders/order.ts'
import { type LockedOrders, MAX_EXPIRED_HOLDS } from '../../core/orders/orders-draft.ts'
import { type Command, petIdsOf, sizeOf } from '../../core/stock/command.ts'
import { isExpiredSql, ORDER_FIELDS, type OrderRecord, orderReferencesOf, toOrder } from '../order-rows.ts'
import type { StoreClock } from '../sql.ts'
import { arrayText, logNumbersFor, parseArrayText, takeLogNumbersSql } from './dialect.ts'
import { storeTime } from './store-clock.ts'

/** The time, the numbers taken from sequences, and an order if there is one. */
type ReadRow = { readonly now: bigint; readonly new_ids: string; readonly log_numbers: string } & (
  | OrderRecord
  | { readonly id: null }
)

/** Added if the commands name orders. */
const NAMED = `SELECT ${ORDER_FIELDS} FROM orders WHERE id = ANY ($5::bigint[]) UNION`

/** Reads the expired holds of the locked pets, and the named orders. Ids are taken while the pets are locked: see log_ids. */
const selectOrders = (named: string) => `
  WITH clock AS MATERIALIZED (
    SELECT ${storeTime('$2')} AS now,
      own_ids('order_ids', $3::bigint)::text AS new_ids,
      ${takeLogNumbersSql('$4')} AS log_numbers
  )
  SELECT clock.*, found.* FROM clock LEFT JOIN (
    ${named} (SELECT ${ORDER_FIELDS} FROM orders
      WHERE pet_id = ANY ($1::bigint[]) AND ${isExpiredSql('(SELECT now FROM clock)')} LIMIT ${MAX_EXPIRED_HOLDS})
  ) AS found ON true`
const EXPIRED_HOLDS = selectOrders('')
const NAMED_ORDERS_TOO = selectOrders(NAMED)

/** Runs once the pets of the commands are locked. That guards their orders as well, so orders need no lock of their own. */
export function readOrders(sql: SQL, commands: readonly Command[], clock: StoreClock) {
  const { orderIds, newOrders } = orderReferencesOf(commands)
  const numbers = [newOrders, logNumbersFor(maxLogRowsOf(commands))].map(BigInt)
  const values = [arrayText(petIdsOf(commands), (id) => id), clock.given(), ...numbers]
  return orderIds.length === 0
    ? sql.unsafe<ReadRow[]>(EXPIRED_HOLDS, values).execute()
    : sql.unsafe<ReadRow[]>(NAMED_ORDERS_TOO, [...values, arrayText(orderIds, (id) => id)]).execute()
}

/** A command writes at most three rows to the log; each hold that expires writes one and may cross a threshold. */
export function maxLogRowsOf(commands: readonly Command[]): number {
  return commands.reduce((sum, command) => sum + 3 * sizeOf(command), 2 * MAX_EXPIRED_HOLDS)
}

/** Skips expired holds of pets that are not locked: they were added after the pets were locked. */
export function toLockedOrders(
  rows: readonly ReadRow[],
  isLocked: (petId: bigint) => boolean,
): LockedOrders & { readonly logNumbers: readonly bigint[] } {
  const [first] = rows
  if (first === undefined) throw new Error('the database did not return the time')
  const now = Number(first.now)
  const orders = rows.flatMap((row) => (row.id === null ? [] : [toOrder(row)]))
  return {
    now,
    newIds: parseArrayText(first.new_ids),
    logNumbers: parseArrayText(first.log_numbers),
    orders: new Map(orders.map((order) => [order.id, order])),
    expiredHolds: orders.filter((order) => isExpired(order, now) && isLocked(order.petId)),
  }
}

/** Updates orders that existed before. New orders are inserted together with their log rows. */
export function writeChangedOrders(sql: SQL, changed: readonly Order[]): Promise<unknown> {
  return sql`
    UPDATE orders SET quantity = now.quantity, state = now.state, ship_date = now.ship_date
    FROM unnest(
      ${arrayText(changed, ({ id }) => id)}::bigint[],
      ${arrayText(changed, ({ quantity }) => quantity)}::bigint[],
      ${arrayText(changed, ({ state }) => state)}::text[],
      ${arrayText(changed, ({ shipDate }) => shipDate)}::bigint[]
    ) AS now (id, quantity, state, ship_date) WHERE orders.id = now.id`.execute()
}
