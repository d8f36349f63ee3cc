import { test } from 'bun:test'
import { PetstoreClient } from '@petstore/client'
import type { TestService } from '../../../server/test/support/test-service.ts'

const TOOLS = { curl: 'curl', client: 'bun', python: 'python3' } as const

/** Those in which every guide has its samples. */
export const LANGUAGES = ['curl', 'client', 'python'] as const

/** With the curl, the Bun or the Python of this machine; where there is none, the test is skipped, and says so. */
export function testWith(
  id: (typeof LANGUAGES)[number],
  body: () => Promise<void>,
  name = `with ${id}`,
): void {
  const isThere = Bun.which(TOOLS[id]) !== null
  test.skipIf(!isThere)(isThere ? name : `${name}: there is no ${TOOLS[id]} on this machine`, body)
}

/** What the examples of an adjustment and of an order, and the guides, go on from. */
export async function stockTheExample(service: TestService): Promise<void> {
  await service.setQuantity(1n, '{"quantity":12}')
  await service.setQuantity(2n, '{"quantity":28}')
  const client = new PetstoreClient({ baseUrl: `${service.address}/v1`, apiKey: service.key })
  for await (const { id } of client.orders.list({ petId: 1n, state: 'open' })) await client.orders.cancel(id)
  for await (const { id } of client.webhooks.list()) await client.webhooks.remove(id)
  // A barcode can be given once.
  for await (const { id, barcode } of client.pets.list())
    if (barcode !== undefined) await client.pets.remove(id)
}

export function post(service: TestService, path: string, body: string) {
  return service.call('POST', path, { body, headers: { 'Content-Type': 'application/json' } })
}

export const orderOne = (service: TestService) => post(service, '/store/orders', '{"petId":1,"quantity":1}')
