import express from 'express'
import { openInventory } from './better-sqlite.ts'
import { createGate } from './gate.ts'

// Express 5: expressjs.com/en/guide/routing, /guide/using-middleware, /advanced/best-practice-performance.
const [path = '', port = '0'] = process.argv.slice(2)
const inventory = openInventory(path)
const pass = createGate(inventory.findKey)

const app = express()
app.disable('x-powered-by')

app.use((request, response, next) => {
  const result = pass(request.headers.authorization, request.ip ?? 'unknown')
  response.set(result.headers)
  if (result.refused !== undefined) {
    response.status(result.refused.status).json(result.refused)
    return
  }
  response.locals.keyId = result.key?.id
  next()
})

app.get('/v1/inventory', (_, response) => {
  response.json(inventory.list())
})

app.patch('/v1/inventory/:petId', express.json(), (request, response) => {
  const quantity: unknown = request.body?.quantity
  if (typeof quantity !== 'number' || !Number.isSafeInteger(quantity) || quantity < 0) {
    response
      .status(400)
      .json({ code: 'invalid_request', message: 'quantity must be an integer', status: 400 })
    return
  }
  const row = inventory.setQuantity(Number(request.params.petId), quantity, String(response.locals.keyId))
  if (row === undefined) {
    response.status(404).json({ code: 'not_found', message: 'there is no such pet', status: 404 })
    return
  }
  response.json(row)
})

app.listen(Number(port), '127.0.0.1')
