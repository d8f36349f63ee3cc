import type { Database } from 'bun:sqlite'
import { MAX_HOLDS_ENDED, type OrderChanges, type OrdersFound } from '../../core/orders/changing-orders.ts'
import type { Order } from '../../core/orders/order.ts'
import type { StockRequest } from '../../core/stock/stock-request.ts'
import { isHoldOver, ORDER_COLUMNS, ORDER_FIELDS, type OrderRecord, toOrder } from '../order-rows.ts'

/** For use inside a commit. */
export function orderTable(database: Database) {
  const find = database.query<OrderRecord, [bigint]>(`SELECT ${ORDER_FIELDS} FROM orders WHERE id = ?`)
  const held = database.query<OrderRecord, [bigint, number, number]>(
    `SELECT ${ORDER_FIELDS} FROM orders INDEXED BY orders_held WHERE pet_id = ? AND ${isHoldOver('?')} LIMIT ?`,
  )
  const lastId = database.query<{ last: bigint }, []>('SELECT last FROM order_ids')
  const setLastId = database.query<unknown, [bigint]>('UPDATE order_ids SET last = ?')
  const add = database.query<unknown, [bigint, bigint, number, string, number, number | null, number | null]>(
    `INSERT INTO orders (${ORDER_FIELDS}) VALUES (${Object.keys(ORDER_COLUMNS).map(() => '?')})`,
  )
  const change = database.query<unknown, [number, string, number | null, bigint]>(
    'UPDATE orders SET quantity = ?, state = ?, ship_date = ? WHERE id = ?',
  )

  /** So many that nothing has, from behind the last one. */
  const newIds = (count: number): bigint[] => {
    const ids: bigint[] = []
    if (count === 0) return ids
    for (let id = (lastId.get()?.last ?? 0n) + 1n; ids.length < count; id++) {
      if (find.get(id) === null) ids.push(id)
    }
    return ids
  }

  return {
    /** `entries` are those of all pets that are named. */
    find: (
      requests: readonly StockRequest[],
      entries: ReadonlyMap<bigint, { readonly reserved: number }>,
      now: number,
    ): OrdersFound => {
      const reserved = new Map(Array.from(entries, ([petId, entry]) => [petId, entry.reserved]))
      const orders = new Map<bigint, Order>()
      const over: Order[] = []
      for (const petId of entries.keys()) {
        if (over.length >= MAX_HOLDS_ENDED) break
        for (const row of held.all(petId, now, MAX_HOLDS_ENDED - over.length)) over.push(toOrder(row))
      }
      for (const request of requests) {
        const row = 'orderId' in request ? find.get(request.orderId) : null
        if (row !== null) orders.set(row.id, toOrder(row))
      }
      const creations = requests.filter((request) => 'draft' in request).length
      return { now, reserved, orders, over, newIds: newIds(creations) }
    },

    write: ({ added, changed }: OrderChanges): void => {
      for (const order of added) {
        const { id, petId, quantity, state, createdAt, expiresAt = null, shipDate = null } = order
        add.run(id, petId, quantity, state, createdAt, expiresAt, shipDate)
      }
      for (const { id, quantity, state, shipDate = null } of changed)
        change.run(quantity, state, shipDate, id)
    },

    setLastId: (id: bigint): void => void setLastId.run(id),
  }
}
