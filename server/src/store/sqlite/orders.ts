import type { Database } from 'bun:sqlite'
import { MAX_HOLDS_ENDED, type OrderChanges, type OrdersFound } from '../../core/orders/changing-orders.ts'
import type { Order } from '../../core/orders/order.ts'
import type { StockRequest } from '../../core/stock/stock-request.ts'
import { isHoldOver, ORDER_COLUMNS, ORDER_FIELDS, type OrderRecord, toOrder } from '../order-rows.ts'
import { ownIds } from './dialect.ts'

/** For use inside a commit. */
export function orderTable(database: Database) {
  const find = database.query<OrderRecord, [bigint]>(`SELECT ${ORDER_FIELDS} FROM orders WHERE id = ?`)
  const held = database.query<OrderRecord, [bigint, number, number]>(
    `SELECT ${ORDER_FIELDS} FROM orders INDEXED BY orders_held WHERE pet_id = ? AND ${isHoldOver('?')} LIMIT ?`,
  )
  const anyOver = database.query<{ id: bigint }, [number]>(
    `SELECT id FROM orders INDEXED BY orders_by_expiry WHERE ${isHoldOver('?')} LIMIT 1`,
  )
  const ids = ownIds(database, 'orders')
  const add = database.query<unknown, [bigint, bigint, number, string, number, number | null, number | null]>(
    `INSERT INTO orders (${ORDER_FIELDS}) VALUES (${Object.keys(ORDER_COLUMNS).map(() => '?')})`,
  )
  const change = database.query<unknown, [number, string, number | null, bigint]>(
    'UPDATE orders SET quantity = ?, state = ?, ship_date = ? WHERE id = ?',
  )

  return {
    /** `named` are the pets that are named and there. */
    find: (requests: readonly StockRequest[], named: Iterable<bigint>, now: number): OrdersFound => {
      const orders = new Map<bigint, Order>()
      const over: Order[] = []
      // Of whichever pet: mostly none is.
      const petIds = anyOver.get(now) === null ? [] : named
      for (const petId of petIds) {
        if (over.length >= MAX_HOLDS_ENDED) break
        for (const row of held.all(petId, now, MAX_HOLDS_ENDED - over.length)) over.push(toOrder(row))
      }
      for (const request of requests) {
        const row = 'orderId' in request ? find.get(request.orderId) : null
        if (row !== null) orders.set(row.id, toOrder(row))
      }
      const creations = requests.filter((request) => 'draft' in request).length
      return { now, orders, over, newIds: ids.next(creations) }
    },

    write: ({ added, changed }: OrderChanges): void => {
      for (const order of added) {
        const { id, petId, quantity, state, createdAt, expiresAt = null, shipDate = null } = order
        add.run(id, petId, quantity, state, createdAt, expiresAt, shipDate)
      }
      for (const { id, quantity, state, shipDate = null } of changed)
        change.run(quantity, state, shipDate, id)
    },

    setLastId: ids.setLast,
  }
}
