import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { startInstances, stockUp } from '../../server/test/postgres/shop.ts'
import { createDatabase } from '../../server/test/support/postgres-databases.ts'
import { TestService } from '../../server/test/support/test-service.ts'
import { type OrderState, PetstoreClient, type PetstoreClientOptions } from '../src/index.ts'
import { LOSSES, LossyNetwork } from './support/lossy-network.ts'

setDefaultTimeout(120_000)
const SEED = 20_261_116
/** The share of requests that are lost, with or without their responses. */
const LOST_SHARE = 0.08
const CALLERS = 50
const TIMES_EACH = 20
/** Twice the default: one call loses six attempts in a row once in some thousand runs. */
const RETRIES = 10
const PET_IDS = Array.from({ length: 10 }, (_, index) => index + 1)

/** How often callers act on each pet. */
const PIECES_EACH = (CALLERS * TIMES_EACH) / PET_IDS.length

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

interface Shop {
  readonly addresses: readonly string[]
  readonly apiKey: string
}

async function onSqlite(): Promise<Shop> {
  const pets = PET_IDS.map((id) => ({
    id: BigInt(id),
    name: `Pet ${id}`,
    categoryId: 1n,
    status: 'available' as const,
    quantity: 0,
  }))
  const service = await TestService.start({ pets, onPostgres: false })
  return { addresses: [service.address], apiKey: service.key }
}

async function onTwoInstances(): Promise<Shop> {
  const database = await createDatabase()
  closing.push(() => database.drop())
  const apiKey = await stockUp(database.url, PET_IDS)
  const instances = await startInstances(database.url, 2)
  closing.push(() => Promise.all(instances.map((instance) => instance.stop())))
  return { addresses: instances.map(({ address }) => address), apiKey }
}

type Act = (client: PetstoreClient, petId: bigint, count: number) => Promise<unknown>

/** Every caller acts on one pet after the other. Returns the network, and a client that does not use it. */
async function actions({ addresses, apiKey }: Shop, act: Act, fetch?: PetstoreClientOptions['fetch']) {
  console.log(`seed ${SEED}`)
  const network = new LossyNetwork(SEED, LOST_SHARE)
  closing.push(async () => network.close())
  const ways = await Promise.all(addresses.map((address) => network.wayTo(address)))
  const own = fetch === undefined ? {} : { fetch }
  const call = async (caller: number) => {
    const client = new PetstoreClient({
      baseUrl: `${ways[caller % ways.length]}/v1`,
      apiKey,
      retries: RETRIES,
      ...own,
    })
    for (let count = 0; count < TIMES_EACH; count++) {
      await act(client, BigInt(PET_IDS[(caller + count) % PET_IDS.length] ?? 0), count)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)))
  return { network, plain: new PetstoreClient({ baseUrl: `${addresses[0]}/v1`, apiKey }) }
}

/** The test proves little without losses of each kind. */
function expectLosses(network: LossyNetwork): void {
  for (const loss of LOSSES) expect(network.losses.get(loss)).toBeGreaterThan(10)
}

const add: Act = (client, petId) => client.inventory.receive({ petId, quantity: 1 })

/** Of the orders, one in four is completed and one in four cancelled. */
const order: Act = async (client, petId, count) => {
  const { id } = await client.orders.create({ petId, quantity: 1 })
  if (count % 4 === 0) await client.orders.complete(id)
  if (count % 4 === 1) await client.orders.cancel(id)
}

async function stockUpTo(quantity: number, { addresses, apiKey }: Shop): Promise<void> {
  const client = new PetstoreClient({ baseUrl: `${addresses[0]}/v1`, apiKey })
  const changes = PET_IDS.map((petId) => ({ petId: BigInt(petId), quantity }))
  await client.inventory.count(changes)
}

/** Counts the orders of this test: the store begins with one of another quantity. */
async function countsByState(client: PetstoreClient) {
  const count = async (state: OrderState) =>
    (await Array.fromAsync(client.orders.list({ state, limit: 200 }))).filter(
      ({ lines }) => lines[0]?.quantity === 1,
    ).length
  return {
    open: await count('open'),
    complete: await count('complete'),
    cancelled: await count('cancelled'),
    expired: await count('expired'),
  }
}

function withAnotherKeyEachTime(url: string, init: RequestInit): Promise<Response> {
  const headers = Object.fromEntries(new Headers(init.headers))
  return fetch(url, { ...init, headers: { ...headers, 'idempotency-key': crypto.randomUUID() } })
}

describe.each([
  ['SQLite', onSqlite],
  ['two instances on PostgreSQL', onTwoInstances],
])('50 callers twenty times each on the same 10 pets on %s, with connections cut at random', (_, open) => {
  test('add 1: exactly +1,000', async () => {
    const { network, plain } = await actions(await open(), add)
    const quantities = (await plain.inventory.list()).items.map(({ quantity }) => quantity)
    expect(quantities).toEqual(PET_IDS.map(() => PIECES_EACH))
    expect(network.requests / (CALLERS * TIMES_EACH)).toBeLessThanOrEqual(1.2)
    expectLosses(network)
  })

  test('order 1, complete a quarter and cancel a quarter: the reserved and sold units are exact', async () => {
    const shop = await open()
    await stockUpTo(PIECES_EACH, shop)
    const { network, plain } = await actions(shop, order)
    for (const petId of PET_IDS.map(BigInt)) {
      expect(await plain.inventory.availability(petId)).toEqual({
        petId,
        quantity: 75,
        reserved: 50,
        available: 25,
      })
    }
    expect(await countsByState(plain)).toEqual({ open: 500, complete: 250, cancelled: 250, expired: 0 })
    expectLosses(network)
  })
})

test('with another key for each attempt, the same adds too much', async () => {
  const { plain } = await actions(await onSqlite(), add, withAnotherKeyEachTime)
  const sum = (await plain.inventory.list()).items.reduce((total, { quantity }) => total + quantity, 0)
  expect(sum).toBeGreaterThan(CALLERS * TIMES_EACH)
})
