import type { SQL } from 'bun'
import { MAX_HOLDS_ENDED, type OrderChanges, type OrdersFound } from '../../core/orders/changing-orders.ts'
import { isOver } from '../../core/orders/order.ts'
import { petIdsOf, type StockRequest } from '../../core/stock/stock-request.ts'
import { isHoldOver, ORDER_FIELDS, type OrderRecord, toOrder } from '../order-rows.ts'
import type { StoreClock } from '../store-clock.ts'
import { arrayOf } from './parameters.ts'
import { storeTime } from './store-clock.ts'

/** The time, and an order where there is one to tell of. */
type FoundRow = { now: bigint } & (OrderRecord | { readonly id: null })

export interface FoundOrders {
  readonly rows: readonly FoundRow[]
  readonly newIds: readonly { readonly id: bigint }[]
}

/** Those that are named, and the holds of the pets that are named which are over. */
const FIND = `
  WITH clock AS MATERIALIZED (SELECT ${storeTime('$3')} AS now)
  SELECT clock.now, found.* FROM clock LEFT JOIN (
    SELECT ${ORDER_FIELDS} FROM orders WHERE id = ANY ($1::bigint[])
    UNION
    (SELECT ${ORDER_FIELDS} FROM orders
      WHERE pet_id = ANY ($2::bigint[]) AND ${isHoldOver('(SELECT now FROM clock)')} LIMIT ${MAX_HOLDS_ENDED})
  ) AS found ON true`

/**
 * It begins once the pets that are named are locked. Whoever changes an order has locked its pet: so orders need no lock of
 * their own.
 */
export async function readOrders(
  sql: SQL,
  requests: readonly StockRequest[],
  clock: StoreClock,
): Promise<FoundOrders> {
  const named = requests.flatMap((request) => ('orderId' in request ? [request.orderId] : []))
  const petIds = petIdsOf(requests)
  const creations = requests.filter((request) => 'draft' in request).length
  const [rows, newIds] = await Promise.all([
    sql
      .unsafe<FoundRow[]>(FIND, [arrayOf(named, (id) => id), arrayOf(petIds, (id) => id), clock.given()])
      .execute(),
    creations === 0
      ? []
      : sql<{ id: bigint }[]>`
          SELECT nextval('order_ids') AS id FROM generate_series(1, ${creations}::bigint)`.execute(),
  ])
  return { rows, newIds }
}

/** `reserved` is that of all pets that are locked. An order of another one was not there when its pet was looked up. */
export function toOrdersFound(
  { rows, newIds }: FoundOrders,
  reserved: ReadonlyMap<bigint, number>,
): OrdersFound {
  const [first] = rows
  if (first === undefined) throw new Error('the database did not tell the time')
  const now = Number(first.now)
  const orders = rows.flatMap((row) => (row.id === null ? [] : [toOrder(row)]))
  return {
    ...{ now, reserved, newIds: newIds.map(({ id }) => id) },
    orders: new Map(orders.map((order) => [order.id, order])),
    over: orders.filter((order) => isOver(order, now) && reserved.has(order.petId)),
  }
}

export function writeOrders(sql: SQL, { added, changed, reserved }: OrderChanges): Promise<unknown>[] {
  const writes: Promise<unknown>[] = []
  const pets = [...reserved]
  if (pets.length > 0) {
    writes.push(
      sql`
        UPDATE stock SET reserved = now.reserved FROM unnest(
          ${arrayOf(pets, ([petId]) => petId)}::bigint[],
          ${arrayOf(pets, ([, units]) => units)}::bigint[]
        ) AS now (pet_id, reserved) WHERE stock.pet_id = now.pet_id`.execute(),
    )
  }
  if (added.length > 0) {
    writes.push(
      sql`
        INSERT INTO orders (id, pet_id, quantity, state, created_at, expires_at, ship_date)
        SELECT * FROM unnest(
          ${arrayOf(added, ({ id }) => id)}::bigint[],
          ${arrayOf(added, ({ petId }) => petId)}::bigint[],
          ${arrayOf(added, ({ quantity }) => quantity)}::bigint[],
          ${arrayOf(added, ({ state }) => state)}::text[],
          ${arrayOf(added, ({ createdAt }) => createdAt)}::bigint[],
          ${arrayOf(added, ({ expiresAt }) => expiresAt)}::bigint[],
          ${arrayOf(added, ({ shipDate }) => shipDate)}::bigint[]
        )`.execute(),
    )
  }
  if (changed.length > 0) {
    writes.push(
      sql`
        UPDATE orders SET quantity = now.quantity, state = now.state, ship_date = now.ship_date
        FROM unnest(
          ${arrayOf(changed, ({ id }) => id)}::bigint[],
          ${arrayOf(changed, ({ quantity }) => quantity)}::bigint[],
          ${arrayOf(changed, ({ state }) => state)}::text[],
          ${arrayOf(changed, ({ shipDate }) => shipDate)}::bigint[]
        ) AS now (id, quantity, state, ship_date) WHERE orders.id = now.id`.execute(),
    )
  }
  return writes
}
