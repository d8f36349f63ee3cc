import { afterEach, expect, test } from 'bun:test'
import { TestService } from '../../server/test/support/test-service.ts'
import type { PetstoreClient } from '../src/index.ts'
import { failureOf } from './support/failure-of.ts'
import { clientAt, clientOf } from './support/live-service.ts'
import { recordedSleeps } from './support/recorded-sleeps.ts'

interface SentPet {
  readonly id?: number
  readonly name: string
}

const servers: { stop(force: boolean): unknown }[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop(true))))

/** A server with POST /pets/batch as the contract describes it; the n-th response can be replaced. */
function batchServer(responses: Readonly<Record<number, () => Response>> = {}) {
  const batches: (readonly SentPet[])[] = []
  const bytes: number[] = []
  const server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const text = await request.text()
      expect([request.method, new URL(request.url).pathname]).toEqual(['POST', '/v1/pets/batch'])
      const { pets } = JSON.parse(text) as { readonly pets: readonly SentPet[] }
      bytes.push(text.length)
      const other = responses[batches.push(pets) - 1]
      if (other !== undefined) return other()
      const saved = pets.map((pet, index) => ({ id: index + 1, categoryId: 1, status: 'available', ...pet }))
      const updated = pets.filter(({ id }) => id !== undefined).length
      return Response.json({ pets: saved, created: pets.length - updated, updated })
    },
  })
  servers.push(server)
  const client = clientAt(`http://127.0.0.1:${server.port}/v1`, recordedSleeps().options)
  return { batches, bytes, client }
}

async function* manyPets(count: number) {
  for (let index = 0; index < count; index++) yield { name: `Pet ${index}`, categoryId: 1n }
}

test('10,000 pets are sent in 10 requests, with progress after each', async () => {
  const { batches, client } = batchServer()
  const progress: number[][] = []
  const result = await client.pets.upsertMany(manyPets(10_000), {
    onProgress: ({ saved, created, updated, pets }) => progress.push([saved, created, updated, pets.length]),
  })
  expect(result).toEqual({ created: 10_000, updated: 0 })
  expect(batches.map(({ length }) => length)).toEqual(Array(10).fill(1_000))
  expect(batches.flat().map(({ name }) => name)).toEqual(
    (await Array.fromAsync(manyPets(10_000))).map(({ name }) => name),
  )
  expect(progress[0]).toEqual([1_000, 1_000, 0, 1_000])
  expect(progress.at(-1)).toEqual([10_000, 10_000, 0, 1_000])
})

test('created and updated pets are counted, ids are exact in both directions', async () => {
  const { client } = batchServer()
  const ids: bigint[] = []
  const pets = [
    { id: '9007199254740993', name: 'Rex', categoryId: 1 },
    { name: 'Max', categoryId: 1n },
  ]
  const result = await client.pets.upsertMany(pets, {
    onProgress: ({ pets }) => ids.push(...pets.map(({ id }) => id)),
  })
  expect(result).toEqual({ created: 1, updated: 1 })
  expect(typeof ids[0]).toBe('bigint')
})

test('a batch stays below the size limit of the service', async () => {
  const { batches, bytes, client } = batchServer()
  const pets = Array.from({ length: 1_000 }, () => ({ name: 'x'.repeat(400), categoryId: 1n }))
  await client.pets.upsertMany(pets)
  expect(batches.flat()).toHaveLength(1_000)
  expect(Math.max(...bytes)).toBeLessThan(256 * 1024)
})

test('no pets need no request', async () => {
  const { batches, client } = batchServer()
  expect(await client.pets.upsertMany([])).toEqual({ created: 0, updated: 0 })
  expect(batches).toEqual([])
})

test('a batch that fails ends the upsert; the batches before it have been reported', async () => {
  const refusal = { code: 'invalid_request', message: 'name must not be empty', status: 400, field: 'name' }
  const { batches, client } = batchServer({ 1: () => Response.json(refusal, { status: 400 }) })
  const saved: number[] = []
  const upsert = client.pets.upsertMany(manyPets(3_000), {
    onProgress: (progress) => saved.push(progress.saved),
  })
  expect(await failureOf(upsert)).toMatchObject({ code: 'invalid_request', field: 'name' })
  expect([batches.length, saved]).toEqual([2, [1_000]])
})

test('a batch whose response is lost is sent again, and an aborted signal ends the upsert', async () => {
  const { batches, client } = batchServer({ 0: () => new Response('', { status: 502 }) })
  await client.pets.upsertMany(manyPets(5))
  expect(batches).toHaveLength(2)
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(client.pets.upsertMany(manyPets(5), { signal })).rejects.toThrow('enough')
})

test('a live service creates and updates the pets', async () => {
  const client: PetstoreClient = clientOf(await TestService.start())
  expect(await client.pets.upsertMany(manyPets(1_500))).toEqual({ created: 1_500, updated: 0 })
  const all = await Array.fromAsync(client.catalog.list())
  const renamed = all.map(({ petId, categoryId }) => ({ id: petId, categoryId, name: 'Renamed' }))
  expect(await client.pets.upsertMany(renamed)).toEqual({ created: 0, updated: all.length })
  expect(new Set((await Array.fromAsync(client.catalog.list())).map(({ name }) => name))).toEqual(
    new Set(['Renamed']),
  )
})
