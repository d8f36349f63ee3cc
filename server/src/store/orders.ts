import {
  type Availability,
  EXPIRED_STATE,
  LISTED_STATES,
  type Order,
  type OrderState,
  orderAt,
  stateRules,
} from '../core/orders/order.ts'
import type { CustomerSearch, OrderFilter, OrderStore, OrderTotals } from '../core/orders/order-store.ts'
import type { OrderChanges } from '../core/orders/orders-draft.ts'
import { MIN_INT64 } from '../core/values/field.ts'
import {
  expiredUnits,
  ORDER_PETS,
  ORDER_SELECT_LIST,
  type OrderPetsRow,
  type OrderTableRow,
  RESERVING_STATES,
  toOrder,
  toOrderPets,
} from './order-rows.ts'
import type { Dialect, SqlDatabase, SqlValue, Statement, StoreClock } from './sql.ts'

/** A row of `orders` and the time at which it was read. */
type TimedOrderRow = OrderTableRow & { readonly now: bigint }

export function orderMethods(
  database: Pick<SqlDatabase, 'rows' | 'dialect'>,
  clock: StoreClock,
): Omit<OrderStore, 'orderTotals'> {
  const { dialect } = database
  const { indexedBy, idsInJsonArray, joinByIndex } = dialect
  const expired = expiredUnits(dialect, 'stock.pet_id', `(SELECT ${clock.nowSql('$2')})`)
  const availabilityColumns = `pet_id, quantity, CASE WHEN reserved = 0 THEN 0 ELSE reserved - ${expired} END AS reserved`
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
      const { text, values } = pageStatement(filter, limit, clock, dialect)
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
      const isExpired = `hold_until <= ${clock.nowSql('$1')}`
      const [row] = await database.rows<{ orders: bigint; units: bigint }>(
        `SELECT stored.orders - expired.orders AS orders, stored.units - expired.units AS units FROM
          (SELECT (SELECT count(*) FROM orders WHERE state IN ${RESERVING_STATES}) AS orders,
            (SELECT CAST(coalesce(sum(reserved), 0) AS BIGINT) FROM stock) AS units) AS stored,
          (SELECT (SELECT count(*) FROM orders ${indexedBy('orders_by_hold')} WHERE ${isExpired}) AS orders,
            (SELECT CAST(coalesce(sum(quantity), 0) AS BIGINT) FROM orders ${indexedBy('orders_by_hold')}
              JOIN order_lines ON order_lines.order_id = orders.id WHERE orders.${isExpired}) AS units) AS expired`,
        clock.processTime(),
      )
      return { orders: Number(row?.orders ?? 0), units: Number(row?.units ?? 0) }
    },

    expiredHolds: async (limit) => {
      const rows = await database.rows<OrderPetsRow>(
        `SELECT ${ORDER_PETS} FROM orders ${indexedBy('orders_by_hold')}
          WHERE hold_until <= ${clock.nowSql('$2')} ORDER BY hold_until LIMIT CAST($1 AS BIGINT)`,
        limit,
        clock.processTime(),
      )
      return rows.map(toOrderPets)
    },

    personalOrders: async (closedBefore, limit) => {
      const rows = await database.rows<OrderPetsRow>(
        `SELECT ${ORDER_PETS} FROM orders ${indexedBy('orders_with_persons')}
          WHERE closed_at < CAST($1 AS BIGINT) AND (customer IS NOT NULL OR note IS NOT NULL)
          ORDER BY closed_at LIMIT CAST($2 AS BIGINT)`,
        closedBefore,
        limit,
      )
      return rows.map(toOrderPets)
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
 * this order, so the duration does not depend on the number of orders. A search by customer or time is the exception: it examines
 * the orders of a state in an index. An expired hold keeps its state in the table until it is released; here it counts as
 * expired.
 */
function pageStatement(
  { state, petId, customer, reference, since, until, after = MIN_INT64 }: OrderFilter,
  limit: number,
  clock: StoreClock,
  { indexedBy, joinByIndex }: Dialect,
): Statement {
  const values: SqlValue[] = [clock.processTime(), limit]
  const parameter = (value: bigint | number | string) =>
    `CAST($${values.push(value)} AS ${typeof value === 'string' ? 'TEXT' : 'BIGINT'})`
  // All parts use the same time. Otherwise a hold could expire between two parts.
  const now = '(SELECT now FROM clock)'
  const sortingAndLimit = 'ORDER BY id LIMIT CAST($2 AS BIGINT)'
  const conditions = [
    ...(customer === undefined ? [] : customerConditions(customer, parameter)),
    ...(reference === undefined ? [] : [`reference = ${parameter(reference)}`]),
    ...(since === undefined ? [] : [`created_at >= ${parameter(since)}`]),
    ...(until === undefined ? [] : [`created_at < ${parameter(until)}`]),
  ]
  const isAfter = `${after === MIN_INT64 ? '>=' : '>'} ${parameter(after)}`
  const pet = petId === undefined ? undefined : parameter(petId)
  const orderIndex =
    reference !== undefined
      ? 'orders_by_reference'
      : customer !== undefined
        ? 'orders_by_customer'
        : 'orders_by_state'
  /** Orders that an index of the orders or, for a pet, of the lines finds by `isFound`. */
  const ordersWhere = (index: string, lineIndex: string, isFound: string, extra: readonly string[] = []) => {
    const orders = joinByIndex('orders', 'orders.id = order_lines.order_id')
    const source =
      pet === undefined
        ? `SELECT id FROM orders ${indexedBy(index)} WHERE id ${isAfter}`
        : `SELECT order_id AS id FROM order_lines ${indexedBy(lineIndex)} ${orders}
            WHERE order_lines.pet_id = ${pet} AND order_id ${isAfter}`
    return [
      source,
      `${pet === undefined ? 'orders' : 'order_lines'}.${isFound}`,
      ...conditions,
      ...extra,
    ].join(' AND ')
  }
  const ordersIn = (wanted: OrderState): string => {
    const isCurrent = `(orders.hold_until IS NULL OR orders.hold_until > ${now})`
    const extra = stateRules(wanted).reserves ? [isCurrent] : []
    const found = ordersWhere(orderIndex, 'order_lines_by_pet', `state = '${wanted}'`, extra)
    return `SELECT * FROM (${found} ${sortingAndLimit}) AS ${wanted}_orders`
  }
  const parts = (state === undefined ? LISTED_STATES : [state]).map(ordersIn)
  if (state === EXPIRED_STATE) {
    parts.push(ordersWhere('orders_by_hold', 'order_lines_held', `hold_until <= ${now}`))
  }
  const text = `WITH clock AS MATERIALIZED (SELECT ${clock.nowSql('$1')} AS now)
    SELECT ${ORDER_SELECT_LIST}, ${now} AS now
    FROM (SELECT id AS listed_id FROM (${parts.join(' UNION ALL ')}) AS parts ${sortingAndLimit}) AS listed
    ${joinByIndex('orders', 'orders.id = listed.listed_id')} ORDER BY id`
  return { text, values }
}

/** The words have only letters and digits, so LIKE needs no escapes. */
function customerConditions(
  { wordStarts, numbers }: CustomerSearch,
  parameter: (value: string) => string,
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
