import type { Database } from 'bun:sqlite'
import type { Order } from '../../core/orders/order.ts'
import { type LockedOrders, MAX_EXPIRED_HOLDS } from '../../core/orders/orders-draft.ts'
import type { Command } from '../../core/stock/command.ts'
import { newOrderCountOf, orderIdsOf } from '../../core/stock/command-table.ts'
import { isExpiredSql, ORDER_SELECT_LIST, type OrderTableRow, toOrder } from '../order-rows.ts'
import { findAll, idGenerator } from './dialect.ts'

/** Reads orders inside a commit. */
export function orderReader(database: Database) {
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

    advanceIds: orderIdGenerator.advance,
  }
}
