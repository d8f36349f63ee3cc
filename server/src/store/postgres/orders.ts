import type { SQL } from 'bun'
import { isExpired } from '../../core/orders/order.ts'
import { type LockedOrders, MAX_EXPIRED_HOLDS } from '../../core/orders/orders-draft.ts'
import type { Command } from '../../core/stock/command.ts'
import { newOrderCountOf, orderIdsOf, petIdsOf } from '../../core/stock/command-table.ts'
import { advanceIdsStatements } from '../generated-ids.ts'
import { isExpiredSql, ORDER_SELECT_LIST, type OrderTableRow, toOrder } from '../order-rows.ts'
import type { StoreClock } from '../sql.ts'
import { DIALECT, idArray, parseArrayText } from './dialect.ts'
import { runAll } from './session.ts'
import { storeTimeSql } from './store-clock.ts'

/** Each row has the time and the ids of new orders. `id` is null if no order was found. */
type ReadRow = { readonly now: bigint; readonly new_ids: string } & (OrderTableRow | { readonly id: null })

/** Selects the orders that the commands name. */
const NAMED_ORDERS = `SELECT ${ORDER_SELECT_LIST} FROM orders WHERE id = ANY ($4::bigint[]) UNION`

/**
 * Reads the expired holds of the locked pets, and the orders that `namedOrders` selects. It also takes ids for new orders.
 * (After a failover or restore, `own_ids` first skips ids that lost commits may have used.)
 */
const selectOrders = (namedOrders: string) => `
  WITH clock AS MATERIALIZED (
    SELECT ${storeTimeSql('$2')} AS now,
      own_ids('order_ids', $3::bigint)::text AS new_ids
  )
  SELECT clock.*, found.* FROM clock LEFT JOIN (
    ${namedOrders} (SELECT ${ORDER_SELECT_LIST} FROM orders
      WHERE pet_id = ANY ($1::bigint[]) AND ${isExpiredSql('(SELECT now FROM clock)')} LIMIT ${MAX_EXPIRED_HOLDS})
  ) AS found ON true`
const EXPIRED_HOLDS = selectOrders('')
const EXPIRED_HOLDS_AND_NAMED_ORDERS = selectOrders(NAMED_ORDERS)

/**
 * Must run after the pets of the commands are locked. Orders need no locks, because an order changes only under its pet's
 * lock.
 */
export function readOrders(sql: SQL, commands: readonly Command[], clock: StoreClock) {
  const orderIds = orderIdsOf(commands)
  const petIds = idArray(petIdsOf(commands))
  const values = [petIds, clock.processTime(), BigInt(newOrderCountOf(commands))]
  if (orderIds.length === 0) return sql.unsafe<ReadRow[]>(EXPIRED_HOLDS, values).execute()
  return sql.unsafe<ReadRow[]>(EXPIRED_HOLDS_AND_NAMED_ORDERS, [...values, idArray(orderIds)]).execute()
}

/** Before imported orders are written, so that an order that is created meanwhile gets another id. */
export function skipImportedIds(sql: SQL, commands: readonly Command[]): Promise<unknown> | undefined {
  const ids = commands.flatMap((command) => (command.type === 'import_order' ? [command.order.id] : []))
  return ids.length === 0 ? undefined : runAll(sql, advanceIdsStatements(DIALECT, 'orders', ids))
}

/** Leaves out expired holds of pets that are not locked: such a pet was created after the commit had locked its pets. */
export function toLockedOrders(rows: readonly ReadRow[], isLocked: (petId: bigint) => boolean): LockedOrders {
  const [first] = rows
  if (first === undefined) throw new Error('the database did not return the time')
  const now = Number(first.now)
  const orders = rows.flatMap((row) => (row.id === null ? [] : [toOrder(row)]))
  return {
    now,
    newIds: parseArrayText(first.new_ids),
    orders: new Map(orders.map((order) => [order.id, order])),
    expiredHolds: orders.filter((order) => isExpired(order, now) && isLocked(order.petId)),
  }
}
