import type { OrderChangeRecord } from '../core/stock/stock-draft.ts'
import { ORDER_EVENT, type OrderEvent } from '../core/stock/stock-event.ts'
import { detailReader, detailText } from './record-rows.ts'

const orderInDetail = detailReader(ORDER_EVENT)

interface LineDetail {
  readonly petId: string
  readonly quantity: number
  readonly reserved?: number
  readonly available?: number
}

/** The log holds a copy of what an event says, because the order may change later. */
export function orderDetail({ change, order, lines }: OrderChangeRecord): string {
  const { orderId: _, at: __, keyId: ___, ...fields } = ORDER_EVENT
  const details = lines.map((line): LineDetail => ({ ...line, petId: String(line.petId) }))
  return detailText(fields, { ...order, change }, { lines: details })
}

type DetailFields = Omit<OrderEvent, 'kind' | 'cursor' | 'orderId' | 'at' | 'keyId'>

export function fromOrderDetail(text: string): DetailFields {
  const { lines, ...detail }: { readonly lines: readonly LineDetail[] } = JSON.parse(text)
  return { ...orderInDetail(detail), lines: lines.map((line) => ({ ...line, petId: BigInt(line.petId) })) }
}
