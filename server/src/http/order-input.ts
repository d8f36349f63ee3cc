import { MAX_HOLD_SECONDS, type OrderDraft } from '../core/orders/order.ts'
import type { ChangeOrder, CompleteOrder } from '../core/stock/command.ts'
import { MAX_QUANTITY } from '../core/stock/inventory.ts'
import { parseDateTime } from '../core/values/rfc3339.ts'
import { int64Of, invalid, shown } from './request-input.ts'

type Fields = Readonly<Record<string, unknown>>

/** Throws a ServiceError that says which field is wrong, and how. */
export function readNewOrder(body: object): OrderDraft {
  const fields: Fields = { ...body }
  const petId = int64Of(fields.petId)
  if (petId === undefined) throw invalid(`petId must be an int64, got ${shown(fields.petId)}`)
  const { shipDate, holdSeconds } = fields
  return {
    ...{ petId, quantity: readCount('quantity', fields.quantity, MAX_QUANTITY) },
    ...(shipDate === undefined ? {} : { shipDate: readShipDate(shipDate) }),
    ...(holdSeconds === undefined
      ? {}
      : { holdSeconds: readCount('holdSeconds', holdSeconds, MAX_HOLD_SECONDS) }),
  }
}

export function readOrderUpdate(
  body: object,
): Pick<CompleteOrder, 'type'> | Pick<ChangeOrder, 'type' | 'shipDate'> {
  const { complete, shipDate }: Fields = { ...body }
  if ((complete === undefined) === (shipDate === undefined)) {
    const got = complete === undefined ? 'neither' : 'both'
    throw invalid(`the body must have exactly one of complete and shipDate, got ${got}`)
  }
  if (shipDate !== undefined) return { type: 'change_order', shipDate: readShipDate(shipDate) }
  if (complete === true) return { type: 'complete_order' }
  throw invalid(`complete must be true, got ${shown(complete)}; DELETE cancels an order`)
}

function readCount(name: string, value: unknown, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value
  throw invalid(`${name} must be an integer from 1 to ${max}, got ${shown(value)}`)
}

function readShipDate(value: unknown): number {
  const time = typeof value === 'string' ? parseDateTime(value) : undefined
  if (time !== undefined) return time
  throw invalid(
    `shipDate must be a date and time with its zone such as 2026-09-01T10:00:00Z, got ${shown(value)}`,
  )
}
