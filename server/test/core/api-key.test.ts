import { describe, expect, test } from 'bun:test'
import { type ApiKey, createSecret, hashSecret, isWellFormedSecret } from '../../src/core/keys/api-key.ts'
import { KeyRing } from '../../src/core/keys/key-ring.ts'

describe('API keys', () => {
  test('have a prefix for their environment, 30 random base62 characters and a checksum of 6', () => {
    expect(createSecret('production')).toMatch(/^pst_live_[0-9A-Za-z]{36}$/)
    expect(createSecret('staging')).toMatch(/^pst_test_[0-9A-Za-z]{36}$/)
  })

  test('the checksum is CRC-32', () => {
    // The CRC-32 of the preceding text, computed with zlib, in base62.
    expect(isWellFormedSecret('pst_live_0123456789ABCDEFGHIJKLMNOPQRST4BA66x')).toBe(true)
    expect(isWellFormedSecret('pst_live_0123456789ABCDEFGHIJKLMNOPQRST4BA66y')).toBe(false)
  })

  test('a generated key is well formed, and no key with a single typo is', () => {
    const secret = createSecret('production')
    expect(isWellFormedSecret(secret)).toBe(true)
    for (let place = 'pst_live_'.length; place < secret.length; place++) {
      const other = secret[place] === 'a' ? 'b' : 'a'
      expect(isWellFormedSecret(secret.slice(0, place) + other + secret.slice(place + 1))).toBe(false)
    }
  })

  test.each(['', 'pst_demo_free', 'pst_live_', `pst_live_${'a'.repeat(36)}`, `${createSecret('staging')}a`])(
    '"%s" is not well formed',
    (text) => expect(isWellFormedSecret(text)).toBe(false),
  )

  test('the hash is SHA-256', () => {
    expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  test('concurrent requests share one lookup, until the key expires from the cache', async () => {
    const lookups: PromiseWithResolvers<ApiKey | undefined>[] = []
    let now = 0
    const keys = await KeyRing.open(
      {
        listSecretHashes: async () => ({ hashes: [], position: 0n }),
        findKey: () => {
          const lookup = Promise.withResolvers<ApiKey | undefined>()
          lookups.push(lookup)
          return lookup.promise
        },
      },
      () => now,
    )
    const find = () => {
      keys.findCached('hash')
      return keys.findInStore('hash')
    }
    const early = [find(), find(), find()]
    expect(lookups).toHaveLength(1)
    now += 3_600_000
    const late = find()
    expect(lookups).toHaveLength(2)
    for (const lookup of lookups) lookup.resolve(undefined)
    expect(await Promise.all([...early, late])).toEqual([undefined, undefined, undefined, undefined])
    const again = find()
    expect(lookups).toHaveLength(3)
    lookups[2]?.reject(new Error('the database is away'))
    await expect(again).rejects.toThrow('the database is away')
  })
})
