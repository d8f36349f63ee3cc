import { type Availability, type Order, type OrderState, orderAt } from '../core/orders/order.ts'
import type { CustomerSearch, OrderFilter, OrderStore, OrderTotals } from '../core/orders/order-store.ts'
import type { OrderChanges } from '../core/orders/orders-draft.ts'
import { MIN_INT64 } from '../core/values/field.ts'
import { isExpiredSql, ORDER_SELECT_LIST, type OrderTableRow, toOrder } from './order-rows.ts'
import type { SqlDatabase, SqlValue, Statement, StoreClock } from './sql.ts'

const COUNT_AND_UNITS = 'count(*) AS orders, CAST(coalesce(sum(quantity), 0) AS BIGINT) AS units'

/** A row of `orders` and the time at which it was read. */
type TimedOrderRow = OrderTableRow & { readonly now: bigint }

export function orderMethods(
  database: Pick<SqlDatabase, 'rows' | 'dialect'>,
  clock: StoreClock,
): Omit<OrderStore, 'orderTotals'> {
  const { indexedBy, idsInJsonArray, joinByIndex } = database.dialect
  // An expired hold is stored as open until it is released.
  const availabilityColumns = `pet_id, quantity, CASE WHEN reserved = 0 THEN 0 ELSE reserved - (
    SELECT CAST(coalesce(sum(orders.quantity), 0) AS BIGINT) FROM orders ${indexedBy('orders_held')}
    WHERE orders.pet_id = stock.pet_id AND ${isExpiredSql(`(SELECT ${clock.nowSql('$2')})`)}) END AS reserved`
  return {
    findOrder: async (orderId) => {
      const [row] = await database.rows<TimedOrderRow>(
        `SELECT ${ORDER_SELECT_LIST}, ${clock.nowSql('$2')} AS now FROM orders WHERE id = $1`,
        orderId,
        clock.processTime(),
      )
      return row === undefined ? undefined : toOrderAtReadTime(row)
    },

    listOrders: async (filter, limit) => {
      const { text, values } = pageStatement(filter, limit, clock, indexedBy)
      const rows = await database.rows<TimedOrderRow>(text, ...values)
      return rows.map(toOrderAtReadTime)
    },

    findAvailability: async (petId) => {
      const [row] = await database.rows<AvailabilityRow>(
        `SELECT ${availabilityColumns} FROM stock WHERE pet_id = $1`,
        petId,
        clock.processTime(),
      )
      return row === undefined ? undefined : toAvailability(row)
    },

    listAvailability: async (petIds) => {
      const rows = await database.rows<AvailabilityRow>(
        `SELECT ${availabilityColumns} FROM (${idsInJsonArray('$1')}) AS listed
          ${joinByIndex('stock', 'stock.pet_id = listed.id')} ORDER BY pet_id`,
        `[${petIds}]`,
        clock.processTime(),
      )
      return rows.map(toAvailability)
    },

    countOpenOrders: async () => {
      const [row] = await database.rows<{ orders: bigint; units: bigint }>(
        `SELECT open.orders - expired.orders AS orders, open.units - expired.units AS units FROM
          (SELECT ${COUNT_AND_UNITS} FROM orders WHERE state = 'open') AS open,
          (SELECT ${COUNT_AND_UNITS} FROM orders ${indexedBy('orders_by_expiry')}
            WHERE ${isExpiredSql(clock.nowSql('$1'))}) AS expired`,
        clock.processTime(),
      )
      return { orders: Number(row?.orders ?? 0), units: Number(row?.units ?? 0) }
    },

    petsWithExpiredHolds: async (limit) => {
      const rows = await database.rows<{ pet_id: bigint }>(
        // Releasing a hold locks the stock row of its pet, so the row must exist.
        `SELECT pet_id FROM orders ${indexedBy('orders_by_expiry')}
          WHERE ${isExpiredSql(clock.nowSql('$2'))} AND EXISTS (SELECT 1 FROM stock WHERE stock.pet_id = orders.pet_id)
          ORDER BY expires_at LIMIT CAST($1 AS BIGINT)`,
        limit,
        clock.processTime(),
      )
      return [...new Set(rows.map(({ pet_id }) => pet_id))]
    },
  }
}

interface AvailabilityRow {
  readonly pet_id: bigint
  readonly quantity: bigint
  readonly reserved: bigint
}

function toAvailability({ pet_id, quantity, reserved }: AvailabilityRow): Availability {
  return { petId: pet_id, quantity: Number(quantity), reserved: Number(reserved) }
}

function toOrderAtReadTime(row: TimedOrderRow): Order {
  return orderAt(toOrder(row), Number(row.now))
}

/**
 * Selects at most `limit` orders after `after`, by id. Each part of the UNION, except the few expired holds, reads an index in
 * this order, so the duration does not depend on the number of orders. A search by customer is the exception: it examines the
 * customers of a state in an index. An expired hold has the state `open` in the table until it is released; here it counts as
 * expired.
 */
function pageStatement(
  { state, petId, customer, after = MIN_INT64 }: OrderFilter,
  limit: number,
  clock: StoreClock,
  indexedBy: (name: string) => string,
): Statement {
  const values: SqlValue[] = [clock.processTime(), limit]
  const parameter = (value: SqlValue) => `$${values.push(value)}`
  // All parts use the same time. Otherwise a hold could expire between two parts.
  const now = '(SELECT now FROM clock)'
  const select = `SELECT ${ORDER_SELECT_LIST}, ${now} AS now FROM orders`
  const sortingAndLimit = 'ORDER BY id LIMIT CAST($2 AS BIGINT)'
  const isOfPet = petId === undefined ? '' : `pet_id = ${parameter(petId)} AND`
  const isAfter = `id ${after === MIN_INT64 ? '>=' : '>'} ${parameter(after)}`
  const isSelected = [
    isAfter,
    ...(customer === undefined ? [] : customerConditions(customer, parameter)),
  ].join(' AND ')
  const customerIndex =
    customer === undefined
      ? ''
      : indexedBy(petId === undefined ? 'orders_by_customer' : 'orders_by_pet_and_customer')
  const ordersInState = (wanted: OrderState) =>
    `SELECT * FROM (${select} ${customerIndex}
      WHERE ${isOfPet} state = '${wanted}' AND ${isSelected}
      ${wanted === 'open' ? `AND (expires_at IS NULL OR expires_at > ${now})` : ''} ${sortingAndLimit}) AS ${wanted}_orders`
  const expiredHolds = `${select} ${indexedBy(petId === undefined ? 'orders_by_expiry' : 'orders_held')}
    WHERE ${isOfPet} ${isExpiredSql(now)} AND ${isSelected}`
  const parts =
    state === undefined ? [ordersInState('open'), ordersInState('complete')] : [ordersInState(state)]
  if (state === 'expired') parts.push(expiredHolds)
  const text = `WITH clock AS MATERIALIZED (SELECT ${clock.nowSql('$1')} AS now) ${parts.join(' UNION ALL ')} ${sortingAndLimit}`
  return { text, values }
}

/** The words have only letters and digits, so LIKE needs no escapes. */
function customerConditions(
  { wordStarts, numbers }: CustomerSearch,
  parameter: (value: SqlValue) => string,
): string[] {
  return [
    'customer_words IS NOT NULL',
    ...wordStarts.map((start) => `' ' || customer_words LIKE ${parameter(`% ${start}%`)}`),
    ...numbers.map((digits) => `replace(customer_words, ' ', '') LIKE ${parameter(`%${digits}%`)}`),
  ]
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
