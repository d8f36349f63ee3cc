/**
 * Uses the built client for what matters, in whatever runtime this is. Plain JavaScript: Node and a page in a
 * browser load it as it is. Gives what can be sent as JSON.
 */
export async function exercise({ PetstoreClient, isPetstoreError }, baseUrl, apiKey) {
  const client = new PetstoreClient({ baseUrl, apiKey, pace: true })
  const stock = await client.listInventory()
  const isSame = (await client.listInventory({ known: stock })) === stock
  const last = stock.at(-1).petId

  const changes = []
  for await (const event of client.inventoryEvents()) {
    if (event.type === 'ready') {
      await client.adjustInventory({ petId: last, delta: 2 }, { reason: 'received' })
      await client.updateInventory(last, { quantity: 1 })
    }
    if (event.type === 'change') changes.push([String(event.petId), event.before, event.after])
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
  const stop = new AbortController()
  stop.abort(new Error('enough'))
  const aborted = await client.listOrders({ signal: stop.signal }).catch((error) => error.message)

  return {
    ids: stock.map(({ petId }) => String(petId)),
    ...{ isSame, changes, pets, failure, aborted },
    limits: client.limits,
  }
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
  aborted: 'enough',
}
