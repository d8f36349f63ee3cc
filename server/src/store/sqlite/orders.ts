import type { Database } from 'bun:sqlite'
import { MAX_HOLDS_PER_RELEASE } from '../../core/orders/expired-holds.ts'
import type { OrderPets } from '../../core/orders/order-store.ts'
import type { LockedOrders } from '../../core/orders/orders-draft.ts'
import type { Command } from '../../core/stock/command.ts'
import { newOrderCountOf, orderIdsOf } from '../../core/stock/command-table.ts'
import {
  ORDER_PETS,
  ORDER_SELECT_LIST,
  type OrderPetsRow,
  type OrderTableRow,
  toOrder,
  toOrderPets,
} from '../order-rows.ts'
import { findAll, idGenerator } from './dialect.ts'

/** Reads orders inside a commit. */
export function orderReader(database: Database) {
  const findOrder = database.query<OrderTableRow, [bigint]>(
    `SELECT ${ORDER_SELECT_LIST} FROM orders WHERE id = ?`,
  )
  const findExpiredHolds = database.query<OrderPetsRow, [bigint, number]>(
    `SELECT ${ORDER_PETS} FROM orders WHERE id IN (
      SELECT order_id FROM order_lines INDEXED BY order_lines_held WHERE pet_id = ? AND hold_until <= ?
      LIMIT ${MAX_HOLDS_PER_RELEASE})`,
  )
  const findAnyExpiredHold = database.query<{ id: bigint }, [number]>(
    'SELECT id FROM orders INDEXED BY orders_by_hold WHERE hold_until <= ? LIMIT 1',
  )
  const orderIdGenerator = idGenerator(database, 'orders')

  return {
    /** The pets are locked: a file has one writer at a time. */
    read: (commands: readonly Command[], petIds: ReadonlySet<bigint>, now: number): LockedOrders => {
      const orders = findAll(orderIdsOf(commands), findOrder, (row) => toOrder(row))
      return { now, petIds, orders, newIds: orderIdGenerator.findUnused(newOrderCountOf(commands)) }
    },

    /** Expired holds of the pets that are not released yet. */
    expiredHolds: (petIds: Iterable<bigint>, now: number): OrderPets[] => {
      // Usually no hold has expired, and then one query for all pets is enough.
      if (findAnyExpiredHold.get(now) === null) return []
      const holds = new Map<bigint, OrderPets>()
      for (const petId of petIds) {
        for (const row of findExpiredHolds.all(petId, now)) holds.set(row.id, toOrderPets(row))
        if (holds.size >= MAX_HOLDS_PER_RELEASE) break
      }
      return [...holds.values()]
    },

    advanceIds: orderIdGenerator.advance,
  }
}
