import { expect, test } from 'bun:test'
import type { Order } from '@petstore/client'
import { canBeHandedOver, groupReservations } from '../../../src/staff-page/data/orders/reservations.ts'

const order = (id: bigint, more: Partial<Order> = {}): Order => ({
  id,
  petId: 1n,
  quantity: 1,
  state: 'open',
  complete: false,
  createdAt: '2026-11-19T10:00:00.000Z',
  createdBy: 'key_a',
  customer: 'Anna Smith',
  ...more,
})

test('two customers of one name stay apart, and the orders of one reservation stay together', () => {
  const later = { createdAt: '2026-11-19T11:00:00.000Z' }
  const groups = groupReservations([order(1n), order(2n, later), order(3n)])
  expect(groups.map(({ orders }) => orders.map(({ id }) => id))).toEqual([[2n], [1n, 3n]])
})

test('an order can be handed over until its hold ends', () => {
  const hold = order(1n, { expiresAt: '2026-11-19T10:15:00.000Z' })
  const end = Date.parse('2026-11-19T10:15:00.000Z')
  expect([canBeHandedOver(hold, end - 1), canBeHandedOver(hold, end)]).toEqual([true, false])
  expect(canBeHandedOver(order(1n, { state: 'complete' }), 0)).toBe(false)
})
