import { Database } from 'bun:sqlite'
import { Elysia, status, t } from 'elysia'
import { createGate, type PeerKey } from './gate.ts'
import { FIND_KEY, type InventoryRow, LIST, RECORD, UPDATE } from './statements.ts'

// Elysia: elysiajs.com/quick-start, /essential/life-cycle (derive runs before the body is validated), /essential/validation.
const [path = '', port = '0'] = process.argv.slice(2)
const database = new Database(path)
database.run('PRAGMA journal_mode = WAL')
database.run('PRAGMA synchronous = FULL')
const all = database.query<InventoryRow, []>(LIST)
const update = database.query<InventoryRow, [number, number]>(UPDATE)
const record = database.query<unknown, [number, number, number, string]>(RECORD)
const key = database.query<PeerKey, [string]>(FIND_KEY)
const setQuantity = database.transaction((petId: number, quantity: number, keyId: string) => {
  const row = update.get(quantity, petId)
  if (row !== null) record.run(petId, quantity, Date.now(), keyId)
  return row
})

const pass = createGate((hash) => key.get(hash) ?? undefined)
new Elysia()
  .derive(({ headers, request, server, set }) => {
    const result = pass(headers.authorization, server?.requestIP(request)?.address ?? 'unknown')
    Object.assign(set.headers, result.headers)
    if (result.refused !== undefined) return status(result.refused.status, result.refused)
    return { keyId: result.key?.id ?? '' }
  })
  .onError(({ code }) => {
    if (code === 'VALIDATION' || code === 'PARSE')
      return status(400, { code: 'invalid_request', message: 'quantity must be an integer', status: 400 })
  })
  .get('/v1/inventory', () => all.all())
  .patch(
    '/v1/inventory/:petId',
    ({ params, body, keyId }) =>
      setQuantity(Number(params.petId), body.quantity, keyId) ??
      status(404, { code: 'not_found', message: 'there is no such pet', status: 404 }),
    { body: t.Object({ quantity: t.Integer({ minimum: 0 }) }) },
  )
  .listen({ hostname: '127.0.0.1', port: Number(port) })
