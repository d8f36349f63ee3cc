import type {
  FileOrder,
  NewOrder,
  NewOrderLine,
  Order,
  OrderPatch,
  OrderRow,
} from '../../src/core/orders/order.ts'
import type { CommandOf, Result } from '../../src/core/stock/command.ts'
import type { Store } from '../../src/store/store.ts'

const BY = { keyId: 'key_a', at: 1 }

export type Units = readonly [petId: bigint, quantity: number]

export function linesOf(units: readonly Units[]): NewOrderLine[] {
  return units.map(([petId, quantity]) => ({ petId, quantity }))
}

/** The command that creates an order. */
export function createOrder(...units: readonly Units[]): CommandOf<'create_order'> {
  return createOrderWith({}, ...units)
}

export function createOrderWith(
  fields: Partial<NewOrder>,
  ...units: readonly Units[]
): CommandOf<'create_order'> {
  return { type: 'create_order', ...BY, order: { ...fields, lines: linesOf(units) } }
}

/** An order as a store has it. */
export function orderWith(fields: Partial<Order>, ...units: readonly Units[]): Order {
  const lines = linesOf(units).map((line) => ({ ...line, returned: 0 }))
  return { id: 1n, state: 'open', createdAt: 5, ...fields, lines }
}

/** The order of an outcome. */
export function orderIn(outcome: Result | undefined): Order {
  if (outcome === undefined || !('order' in outcome)) throw new Error(`no order: ${Bun.inspect(outcome)}`)
  return outcome.order
}

/** The command that changes an order as it was read. */
export function orderCommand<Type extends 'complete_order' | 'cancel_order' | 'change_order'>(
  type: Type,
  order: Pick<Order, 'id' | 'lines'>,
  fields: Partial<CommandOf<Type>> = {},
): CommandOf<Type> {
  const target = { orderId: order.id, petIds: order.lines.map(({ petId }) => petId) }
  // `fields` has what the type needs besides the order.
  return {
    ...BY,
    ...target,
    ...(type === 'change_order' ? { patch: {} } : {}),
    ...fields,
    type,
  } as CommandOf<Type>
}

export function patchOrder(order: Pick<Order, 'id' | 'lines'>, patch: OrderPatch): CommandOf<'change_order'> {
  return orderCommand('change_order', order, { patch })
}

/** The command that releases expired holds of the store. */
export async function releaseHolds(
  store: Pick<Store, 'expiredHolds'>,
  limit = 1_000,
): Promise<CommandOf<'release_holds'>> {
  const holds = await store.expiredHolds(limit)
  return {
    type: 'release_holds',
    ...BY,
    orderIds: holds.map(({ orderId }) => orderId),
    petIds: holds.flatMap(({ petIds }) => petIds),
  }
}

export function toFileOrder({ petId, quantity, ...fields }: OrderRow): FileOrder {
  return { ...fields, lines: [{ petId, quantity }] }
}

/** Imports orders of one line each: all of them, or it throws. */
export async function addOrders(
  store: Pick<Store, 'changeInOneTransaction'>,
  rows: readonly OrderRow[],
): Promise<void> {
  await store.changeInOneTransaction(async (change) => {
    const origin = { keyId: 'importer', at: 1 }
    const results = await change(
      rows.map((row) => ({ type: 'import_order', order: toFileOrder(row), ...origin })),
    )
    for (const result of results) if (result.type === 'invalid_order') throw new Error(result.reason)
  })
}
