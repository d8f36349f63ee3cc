import type { Order } from '../../core/orders/order.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'

interface OrderRow {
  id: bigint
  pet_id: bigint
  quantity: bigint
  ship_date: bigint
  complete: bigint
}

type OrderVerbs = Pick<Store, 'listOrders' | 'addOrders'>

export function orderVerbs(connection: Connection): OrderVerbs {
  const { database } = connection
  const all = database.query<OrderRow, []>(
    'SELECT id, pet_id, quantity, ship_date, complete FROM orders ORDER BY id',
  )
  const add = database.query<unknown, [bigint, bigint, number, number, number]>(
    'INSERT INTO orders (id, pet_id, quantity, ship_date, complete) VALUES (?, ?, ?, ?, ?)',
  )

  return {
    listOrders: () => connection.read(() => all.all().map(toOrder)),

    addOrders: (orders) =>
      connection.write(() => {
        for (const order of orders) {
          add.run(order.id, order.petId, order.quantity, order.shipDate, order.complete ? 1 : 0)
        }
      }),
  }
}

function toOrder(row: OrderRow): Order {
  return {
    id: row.id,
    petId: row.pet_id,
    quantity: Number(row.quantity),
    shipDate: Number(row.ship_date),
    complete: row.complete === 1n,
  }
}
