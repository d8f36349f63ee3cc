import { Hono } from 'hono'
import { openInventory } from './bun-sqlite.ts'
import {
  adjustmentValidator,
  draftValidator,
  honoGate,
  nextLink,
  quantityValidator,
  searchValidator,
} from './hono-parts.ts'
import { Refused } from './inventory.ts'

// hono.dev/docs/getting-started/bun.
const [path = '', port = '0'] = process.argv.slice(2)
const inventory = openInventory(path)

const gate = honoGate(inventory.findKey)
const app = new Hono()
app.get('/v1/inventory', gate, (c) => c.json(inventory.list()))
app.get('/v1/inventory/search', gate, searchValidator, (c) => {
  const query = c.req.valid('query')
  const { rows, next } = inventory.search(query)
  if (next !== undefined) c.header('Link', nextLink(query, next))
  return c.json(rows)
})
app.patch('/v1/inventory/:petId', gate, quantityValidator, (c) => {
  const { quantity } = c.req.valid('json')
  return c.json(inventory.setQuantity(Number(c.req.param('petId')), quantity, c.get('keyId')))
})
app.post('/v1/inventory/adjustments', gate, adjustmentValidator, (c) =>
  c.json({ items: inventory.adjust(c.req.valid('json'), c.get('keyId')) }),
)
app.post('/v1/store/orders', gate, draftValidator, (c) => {
  const order = inventory.order(c.req.valid('json'), c.get('keyId'))
  return c.json(order, 201, { Location: `/v1/store/orders/${order.id}` })
})
app.onError((error, c) => {
  if (error instanceof Refused) return c.json(error.body, error.body.status)
  throw error
})

Bun.serve({ hostname: '127.0.0.1', port: Number(port), fetch: app.fetch })
