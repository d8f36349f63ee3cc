import { ORDER, ORDER_CHANGES, type Order, type OrderChange } from '../core/orders/order.ts'
import { columnsOf } from '../core/values/field.ts'
import { detailText, fromDetailText, rowReader, rowValues, selectList } from './record-rows.ts'

export type OrderRecord = Readonly<Record<string, bigint | string | null>> & { readonly id: bigint }

export const ORDER_COLUMNS = columnsOf(ORDER)
export const ORDER_FIELDS = selectList(ORDER)
export const toOrder = rowReader(ORDER)
/** In the order of the columns. */
export const orderValues = rowValues(ORDER)

/** Holds, by the index of those that are open. The time is that of the store: see StoreClock. */
export const isHoldOver = (now: string) => `state = 'open' AND expires_at <= ${now}`

/** The log keeps the whole order, because the order itself goes on changing. */
export function toDetail(change: OrderChange, order: Order): string {
  return detailText(ORDER, order, { change })
}

export function fromDetail(text: string): { readonly change: OrderChange; readonly order: Order } {
  const detail = JSON.parse(text)
  const change = ORDER_CHANGES.find((one) => one === detail.change)
  if (change === undefined) throw new Error(`${detail.change} is none of ${ORDER_CHANGES.join(', ')}`)
  return { change, order: fromDetailText(ORDER, detail) }
}
