import { customerWordsOf, ORDER, ORDER_CHANGES, type Order, type OrderChange } from '../core/orders/order.ts'
import { COPIED_TABLES } from '../core/transfer/copy.ts'
import { changeKindIn, detailReader, detailText, rowReader, rowValues, selectList } from './record-rows.ts'
import type { SqlValue } from './sql.ts'

/** A row of `orders`. */
export type OrderTableRow = Readonly<Record<string, bigint | string | null>> & { readonly id: bigint }

/** The columns of `orders`. `customer_words` holds the words of `customer`, by which orders are found. */
export const ORDER_COLUMNS = COPIED_TABLES.orders
export const ORDER_SELECT_LIST = selectList(ORDER)
export const toOrder = rowReader(ORDER)
const recordValues = rowValues(ORDER)
const orderInDetail = detailReader(ORDER)

/** The values of an order in the order of ORDER_COLUMNS. */
export function orderValues(order: Order): SqlValue[] {
  return [...recordValues(order), customerWordsOf(order) ?? null]
}

/** A condition on orders: the order is an expired hold. It is written so that the partial indexes of holds can be used. */
export const isExpiredSql = (now: string) => `state = 'open' AND expires_at <= ${now}`

/** The log holds a copy of the whole order, because the order may change later. */
export function orderDetail(change: OrderChange, order: Order): string {
  return detailText(ORDER, order, { change })
}

export function fromOrderDetail(text: string): { readonly change: OrderChange; readonly order: Order } {
  const detail = JSON.parse(text)
  return { change: changeKindIn(detail, ORDER_CHANGES), order: orderInDetail(detail) }
}
