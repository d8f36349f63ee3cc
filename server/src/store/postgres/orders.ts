import type { Order } from '../../core/orders/order.ts'
import type { Store } from '../store.ts'
import { columnOf } from './columns.ts'
import type { Connection } from './connection.ts'

interface OrderRow {
  id: bigint
  pet_id: bigint
  quantity: bigint
  ship_date: bigint
  complete: boolean
}

type OrderVerbs = Pick<Store, 'listOrders' | 'addOrders'>

export function orderVerbs(connection: Connection): OrderVerbs {
  return {
    listOrders: async () => {
      const rows = await connection.run(
        (sql) => sql<OrderRow[]>`SELECT id, pet_id, quantity, ship_date, complete FROM orders ORDER BY id`,
      )
      return rows.map(toOrder)
    },

    addOrders: async (orders) => {
      await connection.run(
        (sql) => sql`
          INSERT INTO orders (id, pet_id, quantity, ship_date, complete) SELECT * FROM unnest(
            ${columnOf(sql, orders, 'BIGINT', ({ id }) => id)},
            ${columnOf(sql, orders, 'BIGINT', ({ petId }) => petId)},
            ${columnOf(sql, orders, 'BIGINT', ({ quantity }) => quantity)},
            ${columnOf(sql, orders, 'BIGINT', ({ shipDate }) => shipDate)},
            ${columnOf(sql, orders, 'BOOLEAN', ({ complete }) => complete)}) ORDER BY 1`,
      )
    },
  }
}

export function toOrder(row: OrderRow): Order {
  return {
    id: row.id,
    petId: row.pet_id,
    quantity: Number(row.quantity),
    shipDate: Number(row.ship_date),
    complete: row.complete,
  }
}
