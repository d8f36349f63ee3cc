import { ORDER_CHANGES, ORDER_STATES, type Order, type OrderChange } from '../core/orders/order.ts'
import type { Columns, SqlValue } from './sql.ts'

export interface OrderRecord {
  readonly id: bigint
  readonly pet_id: bigint
  readonly quantity: bigint
  readonly state: string
  readonly created_at: bigint
  readonly expires_at: bigint | null
  readonly ship_date: bigint | null
}

export const ORDER_COLUMNS = {
  id: 'integer',
  pet_id: 'integer',
  quantity: 'integer',
  state: 'text',
  created_at: 'integer',
  expires_at: 'integer',
  ship_date: 'integer',
} as const satisfies Columns

export const ORDER_FIELDS = Object.keys(ORDER_COLUMNS).join(', ')

/** Holds, by the index of those that are open. The time is that of the store: see StoreClock. */
export const isExpiredSql = (now: string) => `state = 'open' AND expires_at <= ${now}`

export function toOrder(row: OrderRecord): Order {
  return {
    ...{ id: row.id, petId: row.pet_id, quantity: Number(row.quantity) },
    ...{ state: known(ORDER_STATES, row.state), createdAt: Number(row.created_at) },
    ...(row.expires_at === null ? {} : { expiresAt: Number(row.expires_at) }),
    ...(row.ship_date === null ? {} : { shipDate: Number(row.ship_date) }),
  }
}

/** In the order of the columns. */
export function orderValues(order: Order): SqlValue[] {
  const { id, petId, quantity, state, createdAt, expiresAt = null, shipDate = null } = order
  return [id, petId, quantity, state, createdAt, expiresAt, shipDate]
}

/** What the log keeps of what happened to an order: all of it, since the order itself goes on changing. */
export function toDetail(change: OrderChange, { id, petId, ...rest }: Order): string {
  return JSON.stringify({ change, id: String(id), petId: String(petId), ...rest })
}

export function fromDetail(text: string): { readonly change: OrderChange; readonly order: Order } {
  const { change, id, petId, state, ...rest } = JSON.parse(text)
  return {
    change: known(ORDER_CHANGES, change),
    order: { ...rest, id: BigInt(id), petId: BigInt(petId), state: known(ORDER_STATES, state) },
  }
}

function known<Word extends string>(words: readonly Word[], text: unknown): Word {
  const word = words.find((one) => one === text)
  if (word === undefined) throw new Error(`${text} is none of ${words.join(', ')}`)
  return word
}
