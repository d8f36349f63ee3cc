import type { OrderStore } from '../core/orders/order-store.ts'
import { isTrue, type SqlDatabase, statement } from './sql.ts'

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
        complete: isTrue(complete),
      }))
    },

    addOrders: async (orders) => {
      const text =
        'INSERT INTO orders (id, pet_id, quantity, ship_date, complete) VALUES ($1, $2, $3, $4, $5)'
      await database.commit(
        orders.map(({ id, petId, quantity, shipDate, complete }) =>
          statement(text, id, petId, quantity, shipDate, complete),
        ),
      )
    },
  }
}
