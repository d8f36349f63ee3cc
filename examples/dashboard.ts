import type { PetstoreClient } from '@petstore/client'

/** Yields the current quantity of every pet, by petId, after each event of the stock. */
export async function* followStock(
  client: PetstoreClient,
  signal?: AbortSignal,
): AsyncGenerator<ReadonlyMap<bigint, number>, void, undefined> {
  const quantities = new Map<bigint, number>()
  for await (const event of client.inventory.events({ signal })) {
    switch (event.type) {
      case 'ready':
      case 'relist':
        quantities.clear()
        for await (const item of client.inventory.list({ signal })) quantities.set(item.petId, item.quantity)
        break
      case 'change':
        quantities.set(event.petId, event.after)
        break
      case 'pet':
        quantities.set(event.petId, event.quantity)
        break
      case 'removed':
        quantities.delete(event.petId)
        break
    }
    yield quantities
  }
}
