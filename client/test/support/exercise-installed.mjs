import { createServer } from 'node:http'
import * as petstore from '@petstore/client'
import { exercise } from './exercise.mjs'

const [, , baseUrl, apiKey] = process.argv

/** What a webhook of all changes of stock is told first, verified by the built client. */
async function firstDelivery() {
  const client = new petstore.PetstoreClient({ baseUrl, apiKey })
  let secret
  let told
  const delivery = new Promise((resolve) => {
    told = resolve
  })
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    told(petstore.verifyWebhook(request.headers, Buffer.concat(chunks), secret))
    response.writeHead(204).end()
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${server.address().port}`
  const webhook = await client.createWebhook({ url, kinds: ['stock.changed'] })
  secret = webhook.secret
  await client.updateInventory(9007199254740993n, { quantity: 3 })
  const { type, data } = await delivery
  await client.removeWebhook(webhook.id)
  server.closeAllConnections()
  server.close()
  return { type, petId: String(data.petId), after: data.after }
}

const delivered = await firstDelivery()
const outcome = await exercise(petstore, baseUrl, apiKey)
console.log(JSON.stringify({ version: process.version, delivered, ...outcome }))
