import { createServer } from 'node:http'
import * as petstore from '@petstore/client'
import { exercise } from './exercise.mjs'

const [, , baseUrl, apiKey] = process.argv

/** The first delivery to a webhook, verified by the built client. */
async function firstDelivery() {
  const client = new petstore.PetstoreClient({ baseUrl, apiKey })
  let secret
  let receive
  const delivery = new Promise((resolve) => {
    receive = resolve
  })
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    receive(petstore.verifyWebhook(request.headers, Buffer.concat(chunks), secret))
    response.writeHead(204).end()
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${server.address().port}`
  const webhook = await client.webhooks.create({ url, kinds: ['stock.changed'] })
  secret = webhook.secret
  await client.inventory.set(9007199254740993n, { quantity: 3 })
  const { type, data } = await delivery
  await client.webhooks.remove(webhook.id)
  server.closeAllConnections()
  server.close()
  return { type, petId: String(data.petId), after: data.after }
}

/** The message of a call to a port where nobody listens, with the port replaced. */
async function refusedConnection() {
  const server = createServer()
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address()
  await new Promise((closed) => server.close(closed))
  const client = new petstore.PetstoreClient({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey, retries: 0 })
  const error = await client.inventory.get(1).catch((reason) => reason)
  return error.message.replaceAll(String(port), 'PORT')
}

const delivered = await firstDelivery()
const refused = await refusedConnection()
const outcome = await exercise(petstore, baseUrl, apiKey)
console.log(JSON.stringify({ delivered, refused, ...outcome }))
