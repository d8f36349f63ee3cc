import { ORDER_CHANGES, ORDER_STATES, type Order, type OrderChange } from '../core/orders/order.ts'
import type { Command } from '../core/stock/command.ts'
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

/** The condition that an order is an expired hold, written for the partial indexes of holds. `now` is the store's time. */
export const isExpiredSql = (now: string) => `state = 'open' AND expires_at <= ${now}`

export function toOrder(row: OrderRecord): Order {
  return {
    id: row.id,
    petId: row.pet_id,
    quantity: Number(row.quantity),
    state: known(ORDER_STATES, row.state),
    createdAt: Number(row.created_at),
    ...(row.expires_at === null ? {} : { expiresAt: Number(row.expires_at) }),
    ...(row.ship_date === null ? {} : { shipDate: Number(row.ship_date) }),
  }
}

/** In the order of ORDER_COLUMNS. */
export function orderValues(order: Order): SqlValue[] {
  const { id, petId, quantity, state, createdAt, expiresAt = null, shipDate = null } = order
  return [id, petId, quantity, state, createdAt, expiresAt, shipDate]
}

/** The detail of a log row about an order: the whole order after the change. */
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
  const word = words.find((candidate) => candidate === text)
  if (word === undefined) throw new Error(`${text} is not one of ${words.join(', ')}`)
  return word
}

/** The orders that the commands name, and how many they create. */
export function orderReferencesOf(commands: readonly Command[]) {
  const orderIds: bigint[] = []
  let newOrders = 0
  for (const command of commands) {
    switch (command.type) {
      case 'create_order':
        newOrders++
        break
      case 'complete_order':
      case 'cancel_order':
      case 'change_order':
        orderIds.push(command.orderId)
        break
    }
  }
  return { orderIds, newOrders }
}
