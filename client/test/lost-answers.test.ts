import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { startInstances, stockUp } from '../../server/test/postgres/shop.ts'
import { createDatabase } from '../../server/test/support/postgres-databases.ts'
import { PetstoreClient, type PetstoreClientOptions } from '../src/index.ts'
import { liveService, stopServicesAfterEach } from './support/live-service.ts'
import { LOSSES, LossyNetwork } from './support/lossy-network.ts'

setDefaultTimeout(60_000)
stopServicesAfterEach()

const SEED = 20_261_116
/** So often a request or its answer is lost. */
const LOST_SHARE = 0.08
const CALLERS = 50
const TIMES_EACH = 20
/** Twice the default: that one call loses six in a row happens once in some thousand runs. */
const RETRY = { limit: 10 }
const PET_IDS = Array.from({ length: 10 }, (_, index) => index + 1)

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
    ...{ id: BigInt(id), name: `Pet ${id}`, categoryId: 1n },
    ...{ status: 'available' as const, quantity: 0 },
  }))
  const service = await liveService({ pets, onPostgres: false })
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

/** Every caller adds 1 to one pet after the other; gives what the pets have then, and the network. */
async function additions({ addresses, apiKey }: Shop, fetch?: PetstoreClientOptions['fetch']) {
  console.log(`seed ${SEED}`)
  const network = new LossyNetwork(SEED, LOST_SHARE)
  closing.push(async () => network.close())
  const ways = await Promise.all(addresses.map((address) => network.wayTo(address)))
  const own = fetch === undefined ? {} : { fetch }
  const add = async (caller: number) => {
    const client = new PetstoreClient({
      baseUrl: `${ways[caller % ways.length]}/v1`,
      apiKey,
      retry: RETRY,
      ...own,
    })
    for (let count = 0; count < TIMES_EACH; count++) {
      const petId = BigInt(PET_IDS[(caller + count) % PET_IDS.length] ?? 0)
      await client.adjustInventory({ petId, delta: 1 }, { reason: 'received' })
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => add(caller)))
  const plain = new PetstoreClient({ baseUrl: `${addresses[0]}/v1`, apiKey })
  return { network, quantities: (await plain.listInventory()).map(({ quantity }) => quantity) }
}

test.each([
  ['SQLite', onSqlite],
  ['two instances on PostgreSQL', onTwoInstances],
])(
  '50 callers add 1 twenty times each to the same 10 pets on %s, with connections cut at random: exactly +1,000',
  async (_, open) => {
    const { network, quantities } = await additions(await open())
    expect(quantities).toEqual(PET_IDS.map(() => (CALLERS * TIMES_EACH) / PET_IDS.length))
    expect(network.requests / (CALLERS * TIMES_EACH)).toBeLessThanOrEqual(1.2)
    // Without cuts of each kind it would show little.
    for (const loss of LOSSES) expect(network.losses.get(loss)).toBeGreaterThan(10)
  },
)

test('with another key for each attempt the same adds too much', async () => {
  const { quantities } = await additions(await onSqlite(), (url, init) => {
    const headers = {
      ...Object.fromEntries(new Headers(init.headers)),
      'idempotency-key': crypto.randomUUID(),
    }
    return fetch(url, { ...init, headers })
  })
  expect(quantities.reduce((sum, quantity) => sum + quantity)).toBeGreaterThan(CALLERS * TIMES_EACH)
})
