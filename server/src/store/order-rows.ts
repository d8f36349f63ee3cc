import {
  customerWordsOf,
  holdUntil,
  ORDER,
  ORDER_STATES,
  type Order,
  type OrderLine,
  type OrderState,
  stateRules,
} from '../core/orders/order.ts'
import type { OrderPets } from '../core/orders/order-store.ts'
import { REVERSED_UNITS } from './facts.ts'
import { rowReader, rowValues, selectList } from './record-rows.ts'
import type { Dialect, SqlValue } from './sql.ts'

/** A row of `orders`, with its lines in one text: see LINES. */
export type OrderTableRow = Readonly<Record<string, bigint | string | null>> & {
  readonly id: bigint
  readonly lines: string
}

/** The lines of an order, such as `4:2:0,7:1:1`: pet, ordered units, returned units. */
const LINES = `(
  SELECT string_agg(concat(pet_id, ':', quantity, ':', coalesce((
      SELECT ${REVERSED_UNITS} FROM log WHERE log.reverses = orders.adjustment_id AND log.pet_id = order_lines.pet_id
    ), 0)), ',' ORDER BY pet_id)
  FROM order_lines WHERE order_id = orders.id)`

export const ORDER_SELECT_LIST = `${selectList(ORDER)}, ${LINES} AS lines`

const toRecord = rowReader(ORDER)
const recordValues = rowValues(ORDER)

export function toOrder(row: OrderTableRow): Order {
  return { ...toRecord(row), lines: row.lines.split(',').map(toLine) }
}

function toLine(text: string): OrderLine {
  const [petId = '', quantity, returned] = text.split(':')
  return { petId: BigInt(petId), quantity: Number(quantity), returned: Number(returned) }
}

/** The values of an order in the order of its columns in COPIED_TABLES. */
export function orderValues(order: Order): SqlValue[] {
  return [...recordValues(order), holdUntil(order) ?? null, customerWordsOf(order) ?? null]
}

/** The values of the lines of an order in the order of their columns in COPIED_TABLES. */
export function orderLineValues(order: Order): SqlValue[][] {
  const { id, state, lines } = order
  return lines.map(({ petId, quantity }) => [id, petId, quantity, state, holdUntil(order) ?? null])
}

/** A row that names an order and its pets. */
export interface OrderPetsRow {
  readonly id: bigint
  /** Such as `4,7`. */
  readonly pet_ids: string
}

export const ORDER_PETS =
  "id, (SELECT string_agg(concat(pet_id), ',' ORDER BY pet_id) FROM order_lines WHERE order_id = orders.id) AS pet_ids"

export function toOrderPets({ id, pet_ids }: OrderPetsRow): OrderPets {
  return { orderId: id, petIds: pet_ids.split(',').map(BigInt) }
}

/** The states in parentheses, for IN. */
export function stateList(states: readonly OrderState[]): string {
  return `(${states.map((state) => `'${state}'`).join()})`
}

/** The states in which an order reserves its units. */
export const RESERVING_STATES = stateList(ORDER_STATES.filter((state) => stateRules(state).reserves))

/** The reserved units of a pet that belong to expired holds. Such holds reserve nothing, but are not released yet. */
export function expiredUnits({ indexedBy }: Pick<Dialect, 'indexedBy'>, petId: string, now: string): string {
  return `(SELECT CAST(coalesce(sum(order_lines.quantity), 0) AS BIGINT) FROM order_lines ${indexedBy('order_lines_held')}
    WHERE order_lines.pet_id = ${petId} AND order_lines.hold_until <= ${now})`
}
