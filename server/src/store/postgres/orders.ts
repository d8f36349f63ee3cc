import type { SQL } from 'bun'
import { MAX_HOLDS_PER_RELEASE } from '../../core/orders/expired-holds.ts'
import type { OrderPets } from '../../core/orders/order-store.ts'
import type { LockedOrders } from '../../core/orders/orders-draft.ts'
import type { Command } from '../../core/stock/command.ts'
import { newOrderCountOf, orderIdsOf } from '../../core/stock/command-table.ts'
import { advanceIdsStatements } from '../generated-ids.ts'
import {
  ORDER_PETS,
  ORDER_SELECT_LIST,
  type OrderPetsRow,
  type OrderTableRow,
  toOrder,
  toOrderPets,
} from '../order-rows.ts'
import type { StoreClock } from '../sql.ts'
import { DIALECT, idArray, parseArrayText } from './dialect.ts'
import { runAll } from './session.ts'
import { storeTimeSql } from './store-clock.ts'

/** Each row has the time and the ids of new orders. `id` is null or missing if no order was found. */
type ReadRow = { readonly now: bigint; readonly new_ids: string } & (OrderTableRow | { readonly id?: null })

/**
 * Reads the time and takes ids for new orders. (After a failover or restore, `own_ids` first skips ids that lost commits may have
 * used.)
 */
const READ_TIME = `SELECT ${storeTimeSql('$1')} AS now, own_ids('order_ids', $2::bigint)::text AS new_ids`

const READ_ORDERS = `
  WITH clock AS MATERIALIZED (${READ_TIME})
  SELECT clock.*, found.* FROM clock
    LEFT JOIN (
      SELECT ${ORDER_SELECT_LIST} FROM orders WHERE id = ANY ($3::bigint[]) ORDER BY id FOR NO KEY UPDATE
    ) AS found ON true`

/**
 * Must run after the pets of the commands are locked, which protect their orders: see LockedOrders. The orders are locked as well,
 * because a removed pet cannot be.
 */
export function readOrders(sql: SQL, commands: readonly Command[], clock: StoreClock) {
  const orderIds = orderIdsOf(commands)
  const values = [clock.processTime(), BigInt(newOrderCountOf(commands))]
  if (orderIds.length === 0) return sql.unsafe<ReadRow[]>(READ_TIME, values).execute()
  return sql.unsafe<ReadRow[]>(READ_ORDERS, [...values, idArray(orderIds)]).execute()
}

/** Before imported orders are written, so that an order that is created meanwhile gets another id. */
export function skipImportedIds(sql: SQL, commands: readonly Command[]): Promise<unknown> | undefined {
  const ids = commands.flatMap((command) => (command.type === 'import_order' ? [command.order.id] : []))
  return ids.length === 0 ? undefined : runAll(sql, advanceIdsStatements(DIALECT, 'orders', ids))
}

export function toLockedOrders(rows: readonly ReadRow[], petIds: ReadonlySet<bigint>): LockedOrders {
  const [first] = rows
  if (first === undefined) throw new Error('the database did not return the time')
  const orders = rows.flatMap((row) => (row.id == null ? [] : [toOrder(row)]))
  return {
    now: Number(first.now),
    petIds,
    newIds: parseArrayText(first.new_ids),
    orders: new Map(orders.map((order) => [order.id, order])),
  }
}

/** A column of `stock`: when the next hold of the pet expires. */
export const NEXT_EXPIRY = `CASE WHEN reserved > 0 THEN (
  SELECT min(hold_until) FROM order_lines WHERE order_lines.pet_id = stock.pet_id) END`

const EXPIRED_HOLDS = `
  SELECT ${ORDER_PETS} FROM orders WHERE id IN (
    SELECT order_id FROM order_lines
    WHERE pet_id = ANY ($1::bigint[]) AND hold_until <= (SELECT ${storeTimeSql('$2')}) LIMIT ${MAX_HOLDS_PER_RELEASE})`

/** Expired holds of these pets that are not released yet. */
export async function findExpiredHolds(
  sql: SQL,
  petIds: readonly bigint[],
  clock: StoreClock,
): Promise<OrderPets[]> {
  const rows = await sql.unsafe<OrderPetsRow[]>(EXPIRED_HOLDS, [idArray(petIds), clock.processTime()])
  return rows.map(toOrderPets)
}
