import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import { chooseCoding, toJson } from '../../src/http/reply.ts'
import { TestService } from '../support/test-service.ts'
import { stockOf } from '../support/whole-store.ts'

const pets = (count: number): StockedPet[] =>
  Array.from({ length: count }, (_, index) => ({
    id: BigInt(index + 1),
    name: 'Pet',
    categoryId: 1n,
    status: 'available',
    quantity: index % 97,
  }))

/** Fetches without decoding, to inspect the bytes on the wire. */
async function raw(service: TestService, headers: Record<string, string>) {
  const response = await fetch(`${service.address}/v1/inventory`, {
    headers: { Authorization: `Bearer ${service.key}`, ...headers },
    decompress: false,
  })
  return { response, bytes: Buffer.from(await response.arrayBuffer()) }
}

const decoders = {
  gzip: (bytes: Buffer) => gunzipSync(bytes),
  zstd: (bytes: Buffer) => zstdDecompressSync(bytes),
  identity: (bytes: Buffer) => bytes,
}

describe.each([
  ['kept whole', 2_000, ['identity', 'gzip', 'zstd']],
  ['streamed', 30_000, ['identity', 'zstd']],
] as const)('a list that is %s (%d pets)', (_, count, codings) => {
  let service: TestService
  const listed = async () => toJson(await stockOf(service.store))
  beforeAll(async () => {
    service = await TestService.start({ pets: pets(count) })
  })
  afterAll(() => service.stop())

  test.each(codings)('arrives complete as %s, before and after a change', async (coding) => {
    for (const quantity of [1_000, 2_000]) {
      const { response, bytes } = await raw(service, { 'Accept-Encoding': coding })
      expect(response.status).toBe(200)
      expect(response.headers.get('Content-Encoding')).toBe(coding === 'identity' ? null : coding)
      expect(response.headers.get('Vary')).toBe('Accept-Encoding')
      const text = decoders[coding](bytes).toString()
      expect(text === (await listed())).toBe(true)
      await service.setQuantity(7n, JSON.stringify({ quantity }))
    }
  })

  test('each encoding has its own tag, and any of them gets 304 while the content is unchanged', async () => {
    const tags = new Set<string>()
    for (const coding of codings) {
      const { response } = await raw(service, { 'Accept-Encoding': coding })
      tags.add(response.headers.get('ETag') ?? '')
    }
    expect(tags.size).toBe(codings.length)
    for (const tag of tags) {
      const { response, bytes } = await raw(service, { 'Accept-Encoding': 'gzip', 'If-None-Match': tag })
      expect([response.status, bytes.length, response.headers.get('ETag')]).toEqual([304, 0, tag])
      expect(response.headers.get('Vary')).toBe('Accept-Encoding')
    }
    const [first, second] = tags
    const { response } = await raw(service, { 'If-None-Match': `"other", W/${second}, ${first}` })
    expect([response.status, response.headers.get('ETag')]).toEqual([304, second ?? ''])
    await service.setQuantity(7n, '{"quantity": 31}')
    for (const tag of tags) {
      expect((await raw(service, { 'If-None-Match': tag })).response.status).toBe(200)
    }
  })

  test.if(!codings.some((coding) => coding === 'gzip'))(
    'is not compressed for a client that accepts only gzip',
    async () => {
      const { response, bytes } = await raw(service, { 'Accept-Encoding': 'gzip' })
      expect([response.headers.get('Content-Encoding'), response.headers.get('Vary')]).toEqual([
        null,
        'Accept-Encoding',
      ])
      expect(bytes.toString() === (await listed())).toBe(true)
      const both = await raw(service, { 'Accept-Encoding': 'gzip, zstd;q=0.5' })
      expect(both.response.headers.get('Content-Encoding')).toBe('zstd')
    },
  )

  test('HEAD has the same headers as GET', async () => {
    const head = await service.call('HEAD', '/inventory', { headers: { 'Accept-Encoding': 'identity' } })
    const get = await service.call('GET', '/inventory', { headers: { 'Accept-Encoding': 'identity' } })
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.get('ETag')).toBe(get.headers.get('ETag'))
  })
})

test('the tag is the same after a restart', async () => {
  const service = await TestService.start({ pets: pets(2_000) })
  await service.setQuantity(5n, '{"quantity": 77}')
  const before = (await service.call('GET', '/inventory')).headers.get('ETag')
  await service.restart()
  expect((await service.call('GET', '/inventory')).headers.get('ETag')).toBe(before)
})

test('a small list is not compressed, because it would not save a packet', async () => {
  const service = await TestService.start()
  const { response } = await raw(service, { 'Accept-Encoding': 'gzip, zstd' })
  expect(response.headers.get('Content-Encoding')).toBeNull()
})

test.each([
  [null, undefined],
  ['', undefined],
  ['identity', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['identity, gzip', 'gzip'],
  ['br', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['zstd;q=0.5, gzip', 'gzip'],
  ['GZIP;q=0', undefined],
  ['*', 'zstd'],
  ['zstd;q=0, *', 'gzip'],
  ['gzip;q=nonsense', undefined],
] as const)('Accept-Encoding %s chooses %s', (header, coding) => {
  expect(chooseCoding(['zstd', 'gzip'], header)).toBe(coding)
})
