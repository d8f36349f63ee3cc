import { type Order, type OrderState, orderAt } from '../core/orders/order.ts'
import type { OrderFilter, OrderStore, OrderTotals } from '../core/orders/order-store.ts'
import type { OrderChanges } from '../core/orders/orders-draft.ts'
import { MAX_INT64, MIN_INT64 } from '../core/values/int64.ts'
import { isExpiredSql, ORDER_FIELDS, type OrderRecord, toOrder } from './order-rows.ts'
import type { SqlDatabase, SqlValue, StoreClock } from './sql.ts'

const COUNT_AND_UNITS = 'count(*) AS orders, CAST(coalesce(sum(quantity), 0) AS BIGINT) AS units'

/** An order and the time at which it was read. */
type OrderRecordNow = OrderRecord & { readonly now: bigint }

export function orderMethods(database: SqlDatabase, clock: StoreClock): Omit<OrderStore, 'orderTotals'> {
  const { indexedBy } = database.dialect
  return {
    findOrder: async (orderId) => {
      const [row] = await database.rows<OrderRecordNow>(
        `SELECT ${ORDER_FIELDS}, ${clock.sql('$2')} AS now FROM orders WHERE id = $1`,
        orderId,
        clock.testTime(),
      )
      return row === undefined ? undefined : toOrderNow(row)
    },

    listOrders: async (filter, limit) => {
      if (filter.after === MAX_INT64) return []
      const firstId = filter.after === undefined ? MIN_INT64 : filter.after + 1n
      const values: SqlValue[] = [firstId, limit, clock.testTime()]
      if (filter.petId !== undefined) values.push(filter.petId)
      const rows = await database.rows<OrderRecordNow>(pageSql(filter, clock.sql('$3'), indexedBy), ...values)
      return rows.map(toOrderNow)
    },

    findAvailability: async (petId) => {
      const [row] = await database.rows<{ quantity: bigint; reserved: bigint; expired: bigint }>(
        `SELECT quantity, reserved, (
            SELECT CAST(coalesce(sum(quantity), 0) AS BIGINT) FROM orders ${indexedBy('orders_held')}
            WHERE pet_id = $1 AND ${isExpiredSql(clock.sql('$2'))}) AS expired
          FROM stock WHERE pet_id = $1`,
        petId,
        clock.testTime(),
      )
      if (row === undefined) return undefined
      return { petId, quantity: Number(row.quantity), reserved: Number(row.reserved - row.expired) }
    },

    countOpenOrders: async () => {
      const [row] = await database.rows<{ orders: bigint; units: bigint }>(
        `SELECT open.orders - expired.orders AS orders, open.units - expired.units AS units FROM
          (SELECT ${COUNT_AND_UNITS} FROM orders WHERE state = 'open') AS open,
          (SELECT ${COUNT_AND_UNITS} FROM orders ${indexedBy('orders_by_expiry')}
            WHERE ${isExpiredSql(clock.sql('$1'))}) AS expired`,
        clock.testTime(),
      )
      return { orders: Number(row?.orders ?? 0), units: Number(row?.units ?? 0) }
    },

    petsWithExpiredHolds: async (limit) => {
      const rows = await database.rows<{ pet_id: bigint }>(
        // Releasing a hold locks the stock row of its pet, so the row must exist.
        `SELECT pet_id FROM orders ${indexedBy('orders_by_expiry')}
          WHERE ${isExpiredSql(clock.sql('$2'))} AND EXISTS (SELECT 1 FROM stock WHERE stock.pet_id = orders.pet_id)
          ORDER BY expires_at LIMIT CAST($1 AS BIGINT)`,
        limit,
        clock.testTime(),
      )
      return [...new Set(rows.map(({ pet_id }) => pet_id))]
    },
  }
}

function toOrderNow(row: OrderRecordNow): Order {
  return orderAt(toOrder(row), Number(row.now))
}

/**
 * Selects at most $2 orders with ids from $1 on, in the order of their ids. Each part of the UNION reads an index in this
 * order, so the duration does not depend on the number of orders. An expired hold has the state `open` in the table until it is
 * released; here it counts as expired.
 */
function pageSql({ state, petId }: OrderFilter, time: string, indexedBy: (name: string) => string): string {
  // All parts use the same time. Otherwise a hold could expire between two parts.
  const now = '(SELECT now FROM clock)'
  const select = `SELECT ${ORDER_FIELDS}, ${now} AS now FROM orders`
  const isOfPet = petId === undefined ? '' : 'pet_id = $4 AND'
  const orderAndLimit = 'ORDER BY id LIMIT CAST($2 AS BIGINT)'
  const ordersInState = (wanted: OrderState) => `SELECT * FROM (${select}
    WHERE ${isOfPet} state = '${wanted}' AND id >= $1
    ${wanted === 'open' ? `AND (expires_at IS NULL OR expires_at > ${now})` : ''} ${orderAndLimit}) AS ${wanted}_orders`
  const expiredHolds = `${select} ${indexedBy(petId === undefined ? 'orders_by_expiry' : 'orders_held')}
    WHERE ${isOfPet} ${isExpiredSql(now)} AND id >= $1`
  const parts =
    state === undefined ? [ordersInState('open'), ordersInState('complete')] : [ordersInState(state)]
  if (state === 'expired') parts.push(expiredHolds)
  return `WITH clock AS MATERIALIZED (SELECT ${time} AS now) ${parts.join(' UNION ALL ')} ${orderAndLimit}`
}

/** Counts refused and expired orders. `add` is called for decisions that are on disk. */
export function orderTotalsCounter() {
  let totals: OrderTotals = { refused: 0, expired: 0 }
  return {
    add: (changes: OrderChanges | undefined): void => {
      if (changes === undefined) return
      const { refused, expired } = changes
      totals = { refused: totals.refused + refused, expired: totals.expired + expired }
    },
    read: (): OrderTotals => totals,
  }
}
