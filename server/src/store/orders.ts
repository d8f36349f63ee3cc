import type { OrderStore } from '../core/orders/order-store.ts'
import { insertRows, type SqlDatabase } from './sql.ts'

interface OrderRow {
  id: bigint
  pet_id: bigint
  quantity: bigint
  ship_date: bigint
  complete: boolean | bigint
}

export function orderVerbs(database: SqlDatabase): OrderStore {
  return {
    listOrders: async () => {
      const rows = await database.rows<OrderRow>(
        'SELECT id, pet_id, quantity, ship_date, complete FROM orders ORDER BY id',
      )
      return rows.map(({ id, pet_id, quantity, ship_date, complete }) => ({
        id,
        petId: pet_id,
        quantity: Number(quantity),
        shipDate: Number(ship_date),
        complete: Boolean(complete),
      }))
    },

    addOrders: async (orders) => {
      await database.commit(
        insertRows(
          'orders (id, pet_id, quantity, ship_date, complete)',
          orders.map((order) => [order.id, order.petId, order.quantity, order.shipDate, order.complete]),
        ),
      )
    },
  }
}
