import Fastify from 'fastify'
import { openInventory } from './better-sqlite.ts'
import { createGate } from './gate.ts'
import { MAX_CHANGES, type PeerAdjustment, type PeerDraft, REASONS, Refused } from './statements.ts'

// Fastify: fastify.dev/docs/latest/Guides/Getting-Started, /Reference/Validation-and-Serialization.
declare module 'fastify' {
  interface FastifyRequest {
    keyId: string
  }
}

const [path = '', port = '0'] = process.argv.slice(2)
const inventory = openInventory(path)
const pass = createGate(inventory.findKey)

const item = {
  type: 'object',
  properties: { petId: { type: 'integer' }, quantity: { type: 'integer' }, status: { type: 'string' } },
}
const order = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    petId: { type: 'integer' },
    quantity: { type: 'integer' },
    complete: { type: 'boolean' },
    state: { type: 'string' },
    createdAt: { type: 'string' },
  },
}
const error = {
  type: 'object',
  properties: { code: { type: 'string' }, message: { type: 'string' }, status: { type: 'integer' } },
}

const app = Fastify()
app.decorateRequest('keyId', '')
app.addHook('onRequest', (request, reply, done) => {
  const result = pass(request.headers.authorization, request.ip)
  reply.headers(result.headers)
  if (result.refused !== undefined) {
    reply.code(result.refused.status).send(result.refused)
    return
  }
  request.keyId = result.key?.id ?? ''
  done()
})

app.get(
  '/v1/inventory',
  { schema: { response: { 200: { type: 'array', items: item }, '4xx': error } } },
  async () => inventory.list(),
)

app.patch<{ Params: { petId: number }; Body: { quantity: number } }>(
  '/v1/inventory/:petId',
  {
    schema: {
      params: { type: 'object', properties: { petId: { type: 'integer' } }, required: ['petId'] },
      body: {
        type: 'object',
        properties: { quantity: { type: 'integer', minimum: 0 } },
        required: ['quantity'],
      },
      response: { 200: item, '4xx': error },
    },
  },
  async (request, reply) => {
    const row = inventory.setQuantity(request.params.petId, request.body.quantity, request.keyId)
    if (row !== undefined) return row
    return reply.code(404).send({ code: 'not_found', message: 'there is no such pet', status: 404 })
  },
)

app.post<{ Body: PeerAdjustment }>(
  '/v1/inventory/adjustments',
  {
    schema: {
      body: {
        type: 'object',
        properties: {
          reason: { enum: REASONS },
          changes: {
            type: 'array',
            minItems: 1,
            maxItems: MAX_CHANGES,
            items: {
              type: 'object',
              properties: { petId: { type: 'integer' }, delta: { type: 'integer' } },
              required: ['petId', 'delta'],
            },
          },
        },
        required: ['reason', 'changes'],
      },
      response: {
        200: { type: 'object', properties: { items: { type: 'array', items: item } } },
        '4xx': error,
      },
    },
  },
  async (request) => ({ items: inventory.adjust(request.body, request.keyId) }),
)

app.post<{ Body: PeerDraft }>(
  '/v1/store/orders',
  {
    schema: {
      body: {
        type: 'object',
        properties: { petId: { type: 'integer' }, quantity: { type: 'integer', minimum: 1 } },
        required: ['petId', 'quantity'],
      },
      response: { 201: order, '4xx': error },
    },
  },
  async (request, reply) => {
    const made = inventory.order(request.body, request.keyId)
    return reply.code(201).header('Location', `/v1/store/orders/${made.id}`).send(made)
  },
)

app.setErrorHandler((thrown: Error, _, reply) => {
  if (thrown instanceof Refused) return reply.code(thrown.body.status).send(thrown.body)
  return reply.send(thrown)
})

await app.listen({ host: '127.0.0.1', port: Number(port) })
