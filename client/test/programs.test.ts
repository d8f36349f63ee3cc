import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { followStock } from '../../examples/dashboard.ts'
import { type MasterRecord, syncPets } from '../../examples/nightly-sync.ts'
import { bookSale } from '../../examples/till.ts'
import { TestService } from '../../server/test/support/test-service.ts'
import type { PetstoreClient } from '../src/index.ts'
import { CuttingProxy } from './support/cutting-proxy.ts'
import { clientAt, clientOf } from './support/live-service.ts'
import { LOSSES, LossyNetwork } from './support/lossy-network.ts'

setDefaultTimeout(120_000)
const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A clock that runs a hundred times as fast, so that retries take little time. */
const fastTime = {
  clock: () => performance.now() * 100,
  sleep: (ms: number) => Bun.sleep(ms / 100),
  totalTimeout: Number.POSITIVE_INFINITY,
}

function storePets(count: number, quantity: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: BigInt(index + 1),
    name: `Pet ${index + 1}`,
    categoryId: 1n,
    status: 'available' as const,
    quantity,
  }))
}

async function quantitiesOf(client: PetstoreClient): Promise<Map<bigint, number>> {
  const { items } = await client.inventory.list()
  return new Map(items.map(({ petId, quantity }) => [petId, quantity]))
}

test('a nightly sync of 10,000 pets leaves no differences and takes fewer than 30 requests', async () => {
  const service = await TestService.start({ pets: storePets(4_000, 5) })
  let requests = 0
  const client = clientOf(service, { onRequest: () => requests++ })
  const records: MasterRecord[] = storePets(10_000, 7).map((pet) => ({
    ...pet,
    name: `${pet.name} of tonight`,
  }))
  await syncPets(client, records, () => {})
  expect(requests).toBeLessThan(30)
  expect(await quantitiesOf(client)).toEqual(new Map(records.map(({ id, quantity }) => [id, quantity])))
  const names = (await Array.fromAsync(client.catalog.list())).map(({ name }) => name)
  expect(names).toEqual(records.map(({ name }) => name))
  requests = 0
  await syncPets(client, records, () => {})
  expect(requests).toBeLessThan(15)
})

test('a till over a network that loses 45 % of the requests books each sale once, and none without stock', async () => {
  const service = await TestService.start({ pets: storePets(1, 30) })
  const network = new LossyNetwork(20_261_118, 0.45)
  closing.push(() => network.close())
  const baseUrl = `${await network.wayTo(service.address)}/v1`
  const client = clientAt(baseUrl, { apiKey: service.key, ...fastTime })
  const sales = Array.from({ length: 50 }, (_, index) =>
    bookSale(client, { number: `till-1:${index}`, lines: [{ petId: 1, quantity: 1 }] }),
  )
  expect((await Promise.all(sales)).filter((isBooked) => isBooked)).toHaveLength(30)
  expect((await clientOf(service).inventory.get(1)).quantity).toBe(0)
  const changes = await Array.fromAsync(clientOf(service).inventory.changes({ reason: 'sold' }))
  expect(new Set(changes.map(({ reference }) => reference)).size).toBe(30)
  for (const loss of LOSSES) expect(network.losses.get(loss)).toBeGreaterThan(3)
})

test('a dashboard over streams that are cut shows every quantity', async () => {
  const service = await TestService.start({ pets: storePets(20, 5), realTime: true })
  const proxy = await CuttingProxy.start(service, 300, 8_000)
  closing.push(() => proxy.stop())
  const writer = clientOf(service)
  const reader = clientOf(service, { baseUrl: `${proxy.address}/v1`, ...fastTime, retries: 100 })
  const change = async () => {
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        for (let count = 0; count < 50; count++)
          await writer.inventory.receive({ petId: index + 1, quantity: 1 })
      }),
    )
    await writer.pets.remove(20)
    await writer.pets.create({ id: 21, name: 'The last change', categoryId: 1, quantity: 1 })
  }
  let changes: Promise<void> | undefined
  for await (const shown of followStock(reader)) {
    changes ??= change()
    if (!shown.has(21n)) continue
    await changes
    expect(new Map([...shown].sort(([one], [other]) => Number(one - other)))).toEqual(
      await quantitiesOf(writer),
    )
    break
  }
  expect(proxy.cuts).toBeGreaterThan(5)
})
