import { SQL } from 'bun'
import { Hono } from 'hono'
import { Refused, readDraft, readQuantity } from './checks.ts'
import type { PeerKey } from './gate.ts'
import { honoGate } from './hono-gate.ts'
import { type InventoryRow, openOrder, refusal } from './inventory.ts'

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
  const draft = readDraft(await c.req.json())
  const { petId, quantity } = draft
  const [added]: { id: string; createdAt: Date }[] = await sql`
    WITH reserved AS (
      UPDATE inventory SET reserved = reserved + ${quantity}
      WHERE pet_id = ${petId} AND quantity - reserved >= ${quantity} RETURNING pet_id
    )
    INSERT INTO orders (pet_id, quantity, key_id) SELECT pet_id, ${quantity}, ${c.get('keyId')} FROM reserved
    RETURNING id, created_at AS "createdAt"`
  if (added === undefined) {
    const known: unknown[] = await sql`SELECT 1 FROM inventory WHERE pet_id = ${petId}`
    throw refusal(known.length === 0 ? undefined : petId)
  }
  const order = openOrder(draft, Number(added.id), added.createdAt.getTime(), c.get('keyId'))
  return c.json(order, 201, { Location: `/v1/store/orders/${order.id}` })
})
app.onError((error, c) => {
  if (error instanceof Refused) return c.json(error.body, error.body.status)
  throw error
})

Bun.serve({ hostname: '127.0.0.1', port: Number(port), fetch: app.fetch })
