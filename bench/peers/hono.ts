import { Hono } from 'hono'
import { openInventory } from './bun-sqlite.ts'
import { Refused, readAdjustment, readLines, readQuantity } from './checks.ts'
import { honoGate } from './hono-gate.ts'

// hono.dev/docs/getting-started/bun.
const [path = '', port = '0'] = process.argv.slice(2)
const inventory = openInventory(path)

const gate = honoGate(inventory.findKey)
const app = new Hono()
app.get('/v1/inventory', gate, (c) => c.json(inventory.list()))
app.get('/v1/inventory/:petId/history', gate, (c) => c.json(inventory.history(Number(c.req.param('petId')))))
app.patch('/v1/inventory/:petId', gate, async (c) => {
  const quantity = readQuantity(await c.req.json())
  return c.json(inventory.setQuantity(Number(c.req.param('petId')), quantity, c.get('keyId')))
})
app.post('/v1/inventory/adjustments', gate, async (c) =>
  c.json({ items: inventory.adjust(readAdjustment(await c.req.json()), c.get('keyId')) }),
)
app.post('/v1/store/orders', gate, async (c) => {
  const order = inventory.order(readLines(await c.req.json()), c.get('keyId'))
  return c.json(order, 201, { Location: `/v1/store/orders/${order.id}` })
})
app.onError((error, c) => {
  if (error instanceof Refused) return c.json(error.body, error.body.status)
  throw error
})

Bun.serve({ hostname: '127.0.0.1', port: Number(port), fetch: app.fetch })
