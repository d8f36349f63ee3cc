/**
 * Uses the client for what matters, in whatever runtime this is. Plain JavaScript: Node and a page in a
 * browser load it as it is. Gives what can be sent as JSON.
 */
export async function exercise({ PetstoreClient, isPetstoreError, InsufficientStockError }, baseUrl, apiKey) {
  const client = new PetstoreClient({ baseUrl, apiKey, pace: true })
  const stock = await client.listInventory()
  const isSame = (await client.listInventory({ known: stock })) === stock
  const last = stock.at(-1).petId

  const changes = []
  /** Whatever holds ids can be written as JSON, and has them as text. */
  const json = [JSON.stringify(stock.at(-1)), written(await client.getInventoryItem(last)).petId]
  for await (const event of client.inventoryEvents()) {
    if (event.type === 'ready') {
      await client.adjustInventory({ petId: last, delta: 2 }, { reason: 'received' })
      await client.updateInventory(last, { quantity: 1 })
    }
    if (event.type === 'change') {
      changes.push([String(event.petId), event.before, event.after])
      json.push(written(event).petId)
    }
    if (changes.length === 2) break
  }

  const pets = []
  for await (const { id } of client.allPets({ status: 'available' })) pets.push(String(id))

  let failure
  try {
    await client.getPet(404n)
  } catch (error) {
    failure = isPetstoreError(error, 'not_found') ? error.message.split(':')[0] : String(error)
  }

  const { id } = await client.createOrder({ petId: 1n, quantity: 3, holdSeconds: 600 })
  const conflict = await client.createOrder({ petId: 1n, quantity: 2 }).catch((error) => error)
  json.push(written(conflict).petId, written(conflict).details[0].petId)
  const left = conflict instanceof InsufficientStockError ? conflict.available : String(conflict)
  await client.cancelOrder(id)
  const orders = []
  for await (const order of client.listOrders({ limit: 1 })) orders.push(String(order.id))

  const stop = new AbortController()
  stop.abort(new Error('enough'))
  const aborted = await client.listOrderPage({ signal: stop.signal }).catch((error) => error.message)

  return {
    ids: stock.map(({ petId }) => String(petId)),
    ...{ isSame, changes, pets, failure, left, orders, aborted, json },
    limits: client.limits,
  }
}

function written(value) {
  return JSON.parse(JSON.stringify(value))
}

/** What the above comes to over the pets of a test service, but for the limits. */
export const EXPECTED = {
  ids: ['1', '2', '3', '9007199254740993', '9223372036854775807'],
  isSame: true,
  changes: [
    ['9223372036854775807', 8, 10],
    ['9223372036854775807', 10, 1],
  ],
  pets: ['1', '9007199254740993', '9223372036854775807'],
  failure: 'GET /pets/404 answered 404 not_found',
  left: 1,
  orders: ['1', '9007199254740993'],
  aborted: 'enough',
  json: [
    '{"petId":"9223372036854775807","quantity":8,"status":"available"}',
    '9223372036854775807',
    '9223372036854775807',
    '9223372036854775807',
    '1',
    '1',
  ],
}
