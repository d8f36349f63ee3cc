import { SQL } from 'bun'
import { Hono } from 'hono'
import { type PeerLine, Refused, readLines, readQuantity } from './checks.ts'
import type { PeerKey } from './gate.ts'
import { honoGate } from './hono-gate.ts'
import { type HistoryRow, type InventoryRow, openOrder, refusal } from './inventory.ts'

// hono.dev/docs/getting-started/bun, bun.com/docs/runtime/sql.
const [url = '', port = '0', poolSize = '10'] = process.argv.slice(2)
const sql = new SQL(url, { max: Number(poolSize) })

// Read once, so that a request needs one statement.
const keys = new Map<string, PeerKey>()
const rows: (PeerKey & { hash: string })[] = await sql`
  SELECT hash, id, per_minute AS "perMinute", per_day AS "perDay" FROM keys`
for (const { hash, ...key } of rows) keys.set(hash, key)

const gate = honoGate((hash) => keys.get(hash))
const app = new Hono()
app.get('/v1/inventory', gate, async (c) => {
  const items: InventoryRow[] = await sql`
    SELECT pet_id AS "petId", quantity, status FROM inventory ORDER BY pet_id`
  return c.json(items)
})
app.get('/v1/inventory/:petId/history', gate, async (c) => {
  const entries: HistoryRow[] = await sql`
    SELECT quantity AS after, at, key_id AS "keyId" FROM history
    WHERE pet_id = ${Number(c.req.param('petId'))} ORDER BY id DESC LIMIT 100`
  return c.json(entries)
})
app.patch('/v1/inventory/:petId', gate, async (c) => {
  const petId = Number(c.req.param('petId'))
  const quantity = readQuantity(await c.req.json())
  const [item]: InventoryRow[] = await sql`
    WITH updated AS (
      UPDATE inventory SET quantity = ${quantity} WHERE pet_id = ${petId} RETURNING pet_id, quantity, status
    ), recorded AS (
      INSERT INTO history (pet_id, quantity, key_id) SELECT pet_id, quantity, ${c.get('keyId')} FROM updated
    )
    SELECT pet_id AS "petId", quantity, status FROM updated`
  if (item !== undefined) return c.json(item)
  throw refusal(undefined)
})
app.post('/v1/store/orders', gate, async (c) => {
  const lines = readLines(await c.req.json())
  const [first] = lines
  const keyId = c.get('keyId')
  const isSingle = first !== undefined && lines.length === 1
  const added = isSingle ? await orderOne(first, keyId) : await orderAll(lines, keyId)
  const order = openOrder(lines, Number(added.id), added.createdAt.getTime(), keyId)
  return c.json(order, 201, { Location: `/v1/store/orders/${order.id}` })
})

interface AddedOrder {
  id: string
  createdAt: Date
}

/** An order of one pet needs one statement. */
async function orderOne({ petId, quantity }: PeerLine, keyId: string): Promise<AddedOrder> {
  const [added]: AddedOrder[] = await sql`
    WITH reserved AS (
      UPDATE inventory SET reserved = reserved + ${quantity}
      WHERE pet_id = ${petId} AND quantity - reserved >= ${quantity} RETURNING pet_id
    ), added AS (
      INSERT INTO orders (key_id) SELECT ${keyId} FROM reserved RETURNING id, created_at
    ), line AS (
      INSERT INTO order_lines (order_id, pet_id, quantity) SELECT id, ${petId}, ${quantity} FROM added
    )
    SELECT id, created_at AS "createdAt" FROM added`
  if (added !== undefined) return added
  const known: unknown[] = await sql`SELECT 1 FROM inventory WHERE pet_id = ${petId}`
  throw refusal(known.length === 0 ? undefined : petId)
}

/** Locks the pets in the order of their ids, so that no two orders deadlock. */
function orderAll(lines: readonly PeerLine[], keyId: string): Promise<AddedOrder> {
  const petIds = sql.array(
    lines.map(({ petId }) => petId),
    'INTEGER',
  )
  const quantities = sql.array(
    lines.map(({ quantity }) => quantity),
    'INTEGER',
  )
  return sql.begin(async (transaction) => {
    const locked: { petId: number; available: number }[] = await transaction`
      SELECT pet_id AS "petId", quantity - reserved AS available FROM inventory
      WHERE pet_id = ANY (${petIds}) ORDER BY pet_id FOR NO KEY UPDATE`
    for (const [index, { petId, quantity }] of lines.entries()) {
      const row = locked[index]
      if (row?.petId !== petId) throw refusal(undefined)
      if (row.available < quantity) throw refusal(petId)
    }
    await transaction`
      UPDATE inventory SET reserved = reserved + line.quantity
      FROM unnest(${petIds}, ${quantities}) AS line (pet_id, quantity) WHERE inventory.pet_id = line.pet_id`
    const [added]: AddedOrder[] = await transaction`
      INSERT INTO orders (key_id) VALUES (${keyId}) RETURNING id, created_at AS "createdAt"`
    if (added === undefined) throw new Error('the order got no id')
    await transaction`
      INSERT INTO order_lines (order_id, pet_id, quantity)
      SELECT ${added.id}, pet_id, quantity FROM unnest(${petIds}, ${quantities}) AS line (pet_id, quantity)`
    return added
  })
}

app.onError((error, c) => {
  if (error instanceof Refused) return c.json(error.body, error.body.status)
  throw error
})

Bun.serve({ hostname: '127.0.0.1', port: Number(port), fetch: app.fetch })
