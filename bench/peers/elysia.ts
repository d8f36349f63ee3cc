import { Elysia, status } from 'elysia'
import { openInventory } from './bun-sqlite.ts'
import { Refused, readAdjustment, readLines, readQuantity } from './checks.ts'
import { createGate } from './gate.ts'

// elysiajs.com/quick-start, /essential/life-cycle.
const [path = '', port = '0'] = process.argv.slice(2)
const inventory = openInventory(path)

const pass = createGate(inventory.findKey)
new Elysia()
  .derive(({ headers, request, server, set }) => {
    const result = pass(headers.authorization, server?.requestIP(request)?.address ?? 'unknown')
    Object.assign(set.headers, result.headers)
    if (result.refused !== undefined) return status(result.refused.status, result.refused)
    return { keyId: result.key?.id ?? '' }
  })
  .onError(({ error }) => {
    if (error instanceof Refused) return status(error.body.status, error.body)
  })
  .get('/v1/inventory', () => inventory.list())
  .get('/v1/inventory/:petId/history', ({ params }) => inventory.history(Number(params.petId)))
  .patch('/v1/inventory/:petId', ({ params, body, keyId }) =>
    inventory.setQuantity(Number(params.petId), readQuantity(body), keyId),
  )
  .post('/v1/inventory/adjustments', ({ body, keyId }) => ({
    items: inventory.adjust(readAdjustment(body), keyId),
  }))
  .post('/v1/store/orders', ({ body, keyId, set }) => {
    const order = inventory.order(readLines(body), keyId)
    set.status = 201
    set.headers.location = `/v1/store/orders/${order.id}`
    return order
  })
  .listen({ hostname: '127.0.0.1', port: Number(port) })
