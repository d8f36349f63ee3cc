import { type Order, orderAt } from '../core/orders/order.ts'
import type { OrderFilter, OrderStore } from '../core/orders/order-store.ts'
import { isHoldOver, ORDER_FIELDS, type OrderRecord, toOrder } from './order-rows.ts'
import type { SqlDatabase, SqlValue, StoreClock } from './sql.ts'

const LOWEST_ID = -(2n ** 63n)
const HIGHEST_ID = 2n ** 63n - 1n

const TOTALS = 'count(*) AS orders, CAST(coalesce(sum(quantity), 0) AS BIGINT) AS units'

type OrderRecordNow = OrderRecord & { readonly now: bigint }

export function orderVerbs(database: SqlDatabase, clock: StoreClock): Omit<OrderStore, 'orderTotals'> {
  const { indexedBy } = database.dialect
  return {
    findOrder: async (orderId) => {
      const [row] = await database.rows<OrderRecordNow>(
        `SELECT ${ORDER_FIELDS}, ${clock.sql('$2')} AS now FROM orders WHERE id = $1`,
        ...[orderId, clock.given()],
      )
      return row === undefined ? undefined : toOrderNow(row)
    },

    listOrders: async (filter, limit) => {
      if (filter.after === HIGHEST_ID) return []
      const from = filter.after === undefined ? LOWEST_ID : filter.after + 1n
      const values: SqlValue[] = [from, limit, clock.given()]
      if (filter.petId !== undefined) values.push(filter.petId)
      const rows = await database.rows<OrderRecordNow>(pageOf(filter, clock.sql('$3'), indexedBy), ...values)
      return rows.map(toOrderNow)
    },

    findAvailability: async (petId) => {
      const [row] = await database.rows<{ quantity: bigint; reserved: bigint; ended: bigint }>(
        `SELECT quantity, reserved, (
            SELECT CAST(coalesce(sum(quantity), 0) AS BIGINT) FROM orders ${indexedBy('orders_held')}
            WHERE pet_id = $1 AND ${isHoldOver(clock.sql('$2'))}) AS ended
          FROM stock WHERE pet_id = $1`,
        ...[petId, clock.given()],
      )
      if (row === undefined) return undefined
      return { petId, quantity: Number(row.quantity), reserved: Number(row.reserved - row.ended) }
    },

    countOpenOrders: async () => {
      const [row] = await database.rows<{ orders: bigint; units: bigint }>(
        `SELECT open.orders - ended.orders AS orders, open.units - ended.units AS units FROM
          (SELECT ${TOTALS} FROM orders WHERE state = 'open') AS open,
          (SELECT ${TOTALS} FROM orders ${indexedBy('orders_by_expiry')}
            WHERE ${isHoldOver(clock.sql('$1'))}) AS ended`,
        clock.given(),
      )
      return { orders: Number(row?.orders ?? 0), units: Number(row?.units ?? 0) }
    },

    petsWithHoldsOver: async (limit) => {
      const rows = await database.rows<{ pet_id: bigint }>(
        // A commit locks the stock row of the pet: without it, the hold cannot be ended.
        `SELECT pet_id FROM orders ${indexedBy('orders_by_expiry')}
          WHERE ${isHoldOver(clock.sql('$2'))} AND EXISTS (SELECT 1 FROM stock WHERE stock.pet_id = orders.pet_id)
          ORDER BY expires_at LIMIT CAST($1 AS BIGINT)`,
        ...[limit, clock.given()],
      )
      return [...new Set(rows.map(({ pet_id }) => pet_id))]
    },
  }
}

function toOrderNow(row: OrderRecordNow): Order {
  return orderAt(toOrder(row), Number(row.now))
}

/**
 * A page by id from $1 on, each part by an index in that order, so that it takes as long whatever else there is. Holds
 * that are over are expired ones, though they may still be written down as open.
 */
function pageOf({ state, petId }: OrderFilter, time: string, indexedBy: (name: string) => string): string {
  // Once for all of it, or a hold could end in between.
  const now = '(SELECT now FROM clock)'
  const select = `SELECT ${ORDER_FIELDS}, ${now} AS now FROM orders`
  const ofPet = petId === undefined ? '' : 'pet_id = $4 AND'
  const inOrder = 'ORDER BY id LIMIT CAST($2 AS BIGINT)'
  const ofState = (one: string) => `SELECT * FROM (${select}
    WHERE ${ofPet} state = '${one}' AND id >= $1
    ${one === 'open' ? `AND (expires_at IS NULL OR expires_at > ${now})` : ''} ${inOrder}) AS ${one}_ones`
  const holdsOver = `${select} ${indexedBy(petId === undefined ? 'orders_by_expiry' : 'orders_held')}
    WHERE ${ofPet} ${isHoldOver(now)} AND id >= $1`
  const parts = state === undefined ? [ofState('open'), ofState('complete')] : [ofState(state)]
  if (state === 'expired') parts.push(holdsOver)
  return `WITH clock AS MATERIALIZED (SELECT ${time} AS now) ${parts.join(' UNION ALL ')} ${inOrder}`
}
