import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { Refused, readAdjustment, readLines, readQuantity } from './checks.ts'
import { createGate } from './gate.ts'
import { createInventory, type Statement, type Value } from './inventory.ts'

// fastify.dev/docs/latest/Guides/Getting-Started, /Reference/Validation-and-Serialization.
declare module 'fastify' {
  interface FastifyRequest {
    keyId: string
  }
}

const [path = '', port = '0'] = process.argv.slice(2)
const database = new Database(path)
database.pragma('journal_mode = WAL')
// better-sqlite3 is compiled with NORMAL as the default in WAL mode.
database.pragma('synchronous = FULL')
const inventory = createInventory({
  prepare: <Row>(sql: string): Statement<Row> => database.prepare<Value[], Row>(sql),
  transaction: (work) => database.transaction(work),
})
const pass = createGate(inventory.findKey)

function object(properties: Record<string, object>) {
  return { type: 'object', properties, required: Object.keys(properties) }
}
const [integer, string] = [{ type: 'integer' }, { type: 'string' }]
const item = object({ petId: integer, quantity: integer, status: string })
const entry = { after: integer, at: integer, keyId: string, reason: { type: ['string', 'null'] } }
const order = object({
  id: integer,
  lines: { type: 'array', items: object({ petId: integer, quantity: integer, returned: integer }) },
  state: string,
  complete: { type: 'boolean' },
  createdAt: string,
  createdBy: string,
})

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

app.get('/v1/inventory', { schema: { response: { 200: { type: 'array', items: item } } } }, async () =>
  inventory.list(),
)

app.get<{ Params: { petId: string } }>(
  '/v1/inventory/:petId/history',
  { schema: { response: { 200: { type: 'array', items: object(entry) } } } },
  async ({ params }) => inventory.history(Number(params.petId)),
)

app.patch<{ Params: { petId: string } }>(
  '/v1/inventory/:petId',
  { schema: { response: { 200: item } } },
  async ({ params, body, keyId }) => inventory.setQuantity(Number(params.petId), readQuantity(body), keyId),
)

app.post(
  '/v1/inventory/adjustments',
  { schema: { response: { 200: object({ items: { type: 'array', items: item } }) } } },
  async ({ body, keyId }) => ({ items: inventory.adjust(readAdjustment(body), keyId) }),
)

app.post('/v1/store/orders', { schema: { response: { 201: order } } }, async ({ body, keyId }, reply) => {
  const placed = inventory.order(readLines(body), keyId)
  return reply.code(201).header('Location', `/v1/store/orders/${placed.id}`).send(placed)
})

app.setErrorHandler((thrown: Error, _, reply) => {
  if (thrown instanceof Refused) return reply.code(thrown.body.status).send(thrown.body)
  return reply.send(thrown)
})

await app.listen({ host: '127.0.0.1', port: Number(port) })
