import { Elysia, status, t } from 'elysia'
import { openInventory } from './bun-sqlite.ts'
import { createGate } from './gate.ts'
import { MAX_CHANGES, REASONS, Refused } from './inventory.ts'

// elysiajs.com/quick-start, /essential/life-cycle (derive runs before the body is validated), /essential/validation.
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
  .onError(({ code, error }) => {
    if (error instanceof Refused) return status(error.body.status, error.body)
    if (code === 'VALIDATION' || code === 'PARSE')
      return status(400, { code: 'invalid_request', message: 'the body is invalid', status: 400 })
  })
  .get('/v1/inventory', () => inventory.list())
  .patch(
    '/v1/inventory/:petId',
    ({ params, body, keyId }) => inventory.setQuantity(Number(params.petId), body.quantity, keyId),
    { body: t.Object({ quantity: t.Integer({ minimum: 0 }) }) },
  )
  .post('/v1/inventory/adjustments', ({ body, keyId }) => ({ items: inventory.adjust(body, keyId) }), {
    body: t.Object({
      reason: t.UnionEnum(REASONS),
      changes: t.Array(t.Object({ petId: t.Integer(), delta: t.Integer() }), {
        minItems: 1,
        maxItems: MAX_CHANGES,
      }),
    }),
  })
  .post(
    '/v1/store/orders',
    ({ body, keyId, set }) => {
      const order = inventory.order(body, keyId)
      set.status = 201
      set.headers.location = `/v1/store/orders/${order.id}`
      return order
    },
    { body: t.Object({ petId: t.Integer(), quantity: t.Integer({ minimum: 1 }) }) },
  )
  .listen({ hostname: '127.0.0.1', port: Number(port) })
