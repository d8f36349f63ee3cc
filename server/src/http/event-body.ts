import type { StockEvent } from '../core/stock/stock-event.ts'
import { orderBody } from './order-resources.ts'

/** What is told of an event, to those who follow a stream and to webhooks alike. */
export function eventBody({ kind: _, cursor: __, ...data }: StockEvent): object {
  if (!('at' in data)) return data
  const order = 'order' in data ? { order: orderBody(data.order) } : {}
  return { ...data, ...order, at: new Date(data.at).toISOString() }
}
