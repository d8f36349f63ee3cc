/**
 * Uses the main features of the client in any runtime. It is plain JavaScript: Node and a page in a browser load it
 * as it is. Its result can be sent as JSON.
 */
export async function exercise(petstore, baseUrl, apiKey) {
  const { PetstoreClient, isPetstoreError, InsufficientStockError, stringify } = petstore
  const client = new PetstoreClient({ baseUrl, apiKey })
  const stock = await client.inventory.list()
  const last = stock.items.at(-1).petId

  const changes = []
  const json = [stringify(stock.items.at(-1))]
  for await (const event of client.inventory.events()) {
    if (event.type === 'ready') {
      await client.inventory.receive({ petId: last, quantity: 2 })
      await client.inventory.set(last, { quantity: 1 })
    }
    if (event.type === 'change') changes.push([String(event.petId), event.before, event.after])
    if (changes.length === 2) break
  }

  const pets = []
  for await (const { petId } of client.catalog.list()) pets.push(String(petId))

  let failure
  try {
    await client.pets.get(404n)
  } catch (error) {
    failure = isPetstoreError(error, 'not_found') ? error.request : String(error)
  }

  const { id } = await client.orders.create({ petId: 1, quantity: 3, holdSeconds: 600 })
  const conflict = await client.orders.create({ petId: 1n, quantity: 2 }).catch((error) => error)
  json.push(JSON.parse(JSON.stringify(conflict)).details[0].petId)
  const left = conflict instanceof InsufficientStockError ? conflict.available : String(conflict)
  await client.orders.cancel(id)
  const orders = []
  for await (const order of client.orders.list({ limit: 1 })) orders.push(String(order.id))

  const stop = new AbortController()
  stop.abort(new Error('enough'))
  const aborted = await client.orders.list({ signal: stop.signal }).catch((error) => error.message)

  return {
    ids: stock.items.map(({ petId }) => String(petId)),
    changes,
    pets,
    failure,
    left,
    orders,
    aborted,
    json,
    limits: client.limits.latest,
  }
}

/** The result over the pets of a test service, without the limits. */
export const EXPECTED = {
  ids: ['1', '2', '3', '9007199254740993', '9223372036854775807'],
  changes: [
    ['9223372036854775807', 8, 10],
    ['9223372036854775807', 10, 1],
  ],
  pets: ['1', '2', '3', '9007199254740993', '9223372036854775807'],
  failure: 'GET /catalog/404',
  left: 1,
  orders: ['1', '9007199254740993'],
  aborted: 'enough',
  json: ['{"petId":"9223372036854775807","quantity":8,"status":"available"}', '1'],
}
