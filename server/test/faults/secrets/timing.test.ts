import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createSecret, hashSecret } from '../../../src/core/keys/api-key.ts'
import { TestService } from '../../support/test-service.ts'

setDefaultTimeout(120_000)

/**
 * The time of a comparison that stops at the first difference reveals how much of a guess was right. Here a
 * guess is hashed first, and only hashes are compared: how far two of them agree reveals nothing about the
 * guess. These tests check that property; measuring times over a network would only hide it in noise.
 */
describe('an almost correct key', () => {
  let service: TestService
  const asked: unknown[] = []
  beforeAll(async () => {
    service = await TestService.start({
      wrapStore: (store) => ({
        ...store,
        findKey: (hash) => {
          asked.push(hash)
          return store.findKey(hash)
        },
      }),
    })
  })
  afterAll(() => service.stop())

  /** The length of the common prefix of two hashes, in hexadecimal digits. */
  function agreement(one: string, other: string): number {
    let length = 0
    while (length < one.length && one[length] === other[length]) length++
    return length
  }

  test('has a hash that is no closer to the hash of the correct key than a random one', () => {
    const right = createSecret('production')
    const hash = hashSecret(right)
    const guesses = Array.from({ length: 20_000 }, (_, index) => {
      // All but one character are right, and the wrong one moves towards the end.
      const at = 9 + (index % 36)
      return right.slice(0, at) + String.fromCharCode(33 + (index % 90)) + right.slice(at + 1)
    }).filter((guess) => guess !== right)
    const strangers = guesses.map(() => createSecret('production'))
    const mean = (secrets: readonly string[]) =>
      secrets.reduce((sum, secret) => sum + agreement(hashSecret(secret), hash), 0) / secrets.length
    // By chance it is 1/15 of a digit; a leaked prefix would be many digits.
    expect(mean(guesses)).toBeWithin(0, 0.2)
    expect(mean(strangers)).toBeWithin(0, 0.2)
  })

  test('reaches the store only as a hash, and gets the response of any other unknown key', async () => {
    const { secret } = await service.createKey('pro')
    const unknown = createSecret('production')
    asked.length = 0
    const known = await service.call('GET', '/inventory', { key: secret })
    const refused = await service.call('GET', '/inventory', { key: unknown })
    expect([known.status, refused.status]).toEqual([200, 401])
    expect(asked).toEqual([hashSecret(secret), hashSecret(unknown)])
    const other = await service.call('GET', '/inventory', { key: createSecret('staging') })
    expect(other.text).toBe(refused.text)
  })
})
