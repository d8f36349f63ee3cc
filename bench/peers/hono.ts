import { Database } from 'bun:sqlite'
import { Hono } from 'hono'
import type { PeerKey } from './gate.ts'
import { honoGate, quantityValidator } from './hono-parts.ts'
import { FIND_KEY, type InventoryRow, LIST, RECORD, UPDATE } from './statements.ts'

// Hono on Bun: hono.dev/docs/getting-started/bun.
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

const gate = honoGate((hash) => key.get(hash) ?? undefined)
const app = new Hono()
app.get('/v1/inventory', gate, (c) => c.json(all.all()))
app.patch('/v1/inventory/:petId', gate, quantityValidator, (c) => {
  const row = setQuantity(Number(c.req.param('petId')), c.req.valid('json').quantity, c.get('keyId'))
  return row === null
    ? c.json({ code: 'not_found', message: 'there is no such pet', status: 404 }, 404)
    : c.json(row)
})

Bun.serve({ hostname: '127.0.0.1', port: Number(port), fetch: app.fetch })
