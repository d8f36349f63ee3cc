import type { Database } from 'bun:sqlite'
import type { Order } from '../../core/orders/order.ts'
import { type LockedOrders, MAX_EXPIRED_HOLDS, type OrderChanges } from '../../core/orders/orders-draft.ts'
import type { Command } from '../../core/stock/command.ts'
import { newOrderCountOf, orderIdsOf } from '../../core/stock/command-table.ts'
import {
  isExpiredSql,
  ORDER_COLUMNS,
  ORDER_SELECT_LIST,
  type OrderTableRow,
  orderValues,
  toOrder,
} from '../order-rows.ts'
import type { SqlValue } from '../sql.ts'
import { findAll, idGenerator } from './dialect.ts'

/** Reads and writes orders inside a commit. */
export function orderTable(database: Database) {
  const findOrder = database.query<OrderTableRow, [bigint]>(
    `SELECT ${ORDER_SELECT_LIST} FROM orders WHERE id = ?`,
  )
  const findExpiredHolds = database.query<OrderTableRow, [bigint, number, number]>(
    `SELECT ${ORDER_SELECT_LIST} FROM orders INDEXED BY orders_held WHERE pet_id = ? AND ${isExpiredSql('?')} LIMIT ?`,
  )
  const findAnyExpiredHold = database.query<{ id: bigint }, [number]>(
    `SELECT id FROM orders INDEXED BY orders_by_expiry WHERE ${isExpiredSql('?')} LIMIT 1`,
  )
  const orderIdGenerator = idGenerator(database, 'orders')
  const columns = Object.keys(ORDER_COLUMNS)
  const insertOrder = database.query<unknown, SqlValue[]>(
    `INSERT INTO orders (${columns}) VALUES (${columns.map(() => '?')})`,
  )
  const updateOrder = database.query<unknown, SqlValue[]>(
    `UPDATE orders SET ${columns.map((column, index) => `${column} = ?${index + 1}`)} WHERE id = ?1`,
  )

  return {
    /** `petIds` are the existing pets that the commands name. */
    read: (commands: readonly Command[], petIds: Iterable<bigint>, now: number): LockedOrders => {
      const expiredHolds: Order[] = []
      // Usually no hold has expired, and then one query for all pets is enough.
      const petsToCheck = findAnyExpiredHold.get(now) === null ? [] : petIds
      for (const petId of petsToCheck) {
        if (expiredHolds.length >= MAX_EXPIRED_HOLDS) break
        for (const row of findExpiredHolds.all(petId, now, MAX_EXPIRED_HOLDS - expiredHolds.length)) {
          expiredHolds.push(toOrder(row))
        }
      }
      const orders = findAll(orderIdsOf(commands), findOrder, (row) => toOrder(row))
      return { now, orders, expiredHolds, newIds: orderIdGenerator.findUnused(newOrderCountOf(commands)) }
    },

    write: ({ added, changed }: OrderChanges): void => {
      for (const order of added) insertOrder.run(...orderValues(order))
      for (const order of changed) updateOrder.run(...orderValues(order))
      if (added.length > 0) orderIdGenerator.advance(added.map(({ id }) => id))
    },
  }
}
