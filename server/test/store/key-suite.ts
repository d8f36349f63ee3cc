import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { ApiKey, KeyChange } from '../../src/core/keys/api-key.ts'
import { statement } from '../../src/store/sql.ts'
import type { Store } from '../../src/store/store.ts'
import { auditOf, operatorOf } from '../support/operator.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const NOW = 1_790_000_000_000
const key: ApiKey = {
  id: 'key_a',
  name: 'Shop',
  plan: 'enterprise',
  limits: { perMinute: 5, perDay: Number.MAX_SAFE_INTEGER },
  permissions: [],
  createdAt: NOW,
}
const secret = (hash: string, createdAt = NOW) => ({ hash, hint: `hint of ${hash}`, createdAt })
const act = { at: NOW, actor: 'anna' }

/** The guarantees of every adapter for keys. */
export function keySuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: keys`, () => {
    let store: Store
    beforeEach(async () => {
      store = await underTest.open()
    })
    afterEach(async () => {
      await store.close()
      await underTest.discard()
    })

    test('are found only by the hash of their secret', async () => {
      const ended: ApiKey = {
        ...key,
        id: 'key_b',
        permissions: ['stock', 'orders'],
        expiresAt: NOW + 5,
        revokedAt: NOW + 6,
      }
      await operatorOf(store).addKey(key, secret('hash a'), act)
      await operatorOf(store).addKey(ended, secret('hash b'), act)
      expect(await store.findKey('hash a')).toEqual(key)
      expect(await store.findKey('hash b')).toEqual(ended)
      expect(await store.findKey('key_a')).toBeUndefined()
    })

    test('have their permissions in a fixed order, and no unknown permission', async () => {
      await operatorOf(store).addKey({ ...key, permissions: ['orders', 'stock'] }, secret('hash a'), act)
      expect((await store.findKey('hash a'))?.permissions).toEqual(['stock', 'orders'])
      const database = await underTest.connect()
      await database.commit([statement('UPDATE keys SET permissions = $1', 'pets,everything')])
      await database.close()
      expect((await store.findKey('hash a'))?.permissions).toEqual(['pets'])
    })

    test('a change affects only the given fields, and the audit shows before and after', async () => {
      await operatorOf(store).addKey(key, secret('hash a'), act)
      await operatorOf(store).addKey({ ...key, id: 'key_b' }, secret('hash b'), act)
      const changed = async (change: KeyChange) => {
        await operatorOf(store).changeKey(key.id, change, { at: NOW + 1, actor: 'bert' })
        const { detail, ...entry } = (await auditOf(store, key.id)).at(-1) ?? {}
        expect(entry as object).toEqual({ at: NOW + 1, actor: 'bert', action: 'change' })
        return [await store.findKey('hash a'), detail as string]
      }
      const permitted: ApiKey = { ...key, permissions: ['stock', 'pets'] }
      expect(await changed({ permissions: ['stock', 'pets'] })).toEqual([permitted, 'may: none → stock,pets'])
      const limits = { perMinute: 60, perDay: 1_000 }
      expect(
        await changed({ name: 'Till', allowance: { plan: 'free', limits }, expiresAt: NOW + 5 }),
      ).toEqual([
        { ...permitted, name: 'Till', plan: 'free', limits, expiresAt: NOW + 5 },
        'name: "Shop" → "Till"; plan: enterprise (5 a minute, 9007199254740991 a day) → free (60 a minute, 1000 a day); expires: never → 2026-09-21T14:13:20.005Z',
      ])
      expect(await changed({ permissions: [], expiresAt: 'never' })).toEqual([
        { ...key, name: 'Till', plan: 'free', limits },
        'may: stock,pets → none; expires: 2026-09-21T14:13:20.005Z → never',
      ])
      expect(await store.findKey('hash b')).toEqual({ ...key, id: 'key_b' })
    })

    test('cannot share a secret or an id', async () => {
      await operatorOf(store).addKey(key, secret('hash a'), act)
      await expect(operatorOf(store).addKey({ ...key, id: 'key_b' }, secret('hash a'), act)).rejects.toThrow()
      await expect(operatorOf(store).addKey(key, secret('hash b'), act)).rejects.toThrow()
      expect(await store.listKeys()).toHaveLength(1)
      expect([await auditOf(store, key.id), await auditOf(store, 'key_b')]).toEqual([[expect.anything()], []])
    })

    test('are listed oldest first, with the hints of their secrets', async () => {
      await operatorOf(store).addKey({ ...key, id: 'key_b', createdAt: NOW + 1 }, secret('hash b'), act)
      await operatorOf(store).addKey(key, secret('hash a'), act)
      expect(await store.listKeys()).toEqual([
        { key, secrets: [{ hint: 'hint of hash a', createdAt: NOW }] },
        {
          key: { ...key, id: 'key_b', createdAt: NOW + 1 },
          secrets: [{ hint: 'hint of hash b', createdAt: NOW }],
        },
      ])
    })

    test('list the hashes of all secrets, then those of keys changed since by any process', async () => {
      const sorted = async (after?: bigint) => {
        const { hashes, position } = await store.listSecretHashes(after)
        return { hashes: hashes.toSorted(), position }
      }
      const another = await underTest.open()
      const none = await sorted()
      expect(none.hashes).toEqual([])
      await operatorOf(another).addKey(key, secret('hash a'), act)
      await operatorOf(another).addKey({ ...key, id: 'key_b' }, secret('hash b'), act)
      const added = await sorted(none.position)
      expect(added.hashes).toEqual(['hash a', 'hash b'])
      expect((await sorted()).hashes).toEqual(['hash a', 'hash b'])

      await operatorOf(another).rotateKey('key_a', secret('hash c'), NOW + 1_000, act)
      const rotated = await sorted(added.position)
      expect(rotated.hashes).toEqual(expect.arrayContaining(['hash a', 'hash c']))
      await operatorOf(another).rotateKey('key_a', secret('hash d'), act.at, act)
      const replaced = await sorted(rotated.position)
      expect(replaced.hashes).toContain('hash d')
      expect(replaced.hashes).not.toContain('hash a')
      expect(replaced.hashes).not.toContain('hash c')

      // A revoked key keeps its secret, so that its owner learns of the revocation.
      await operatorOf(another).revokeKey('key_b', act)
      expect((await sorted(replaced.position)).hashes).toContain('hash b')
      expect((await sorted()).hashes).toEqual(['hash b', 'hash d'])
      await another.close()
    })

    test('list the hash of a secret whose audit row was numbered before others and committed after them', async () => {
      await operatorOf(store).addKey(key, secret('hash a'), act)
      const database = await underTest.connect()
      const overriding = name === 'PostgreSQL' ? 'OVERRIDING SYSTEM VALUE' : ''
      const audit = (id: number, keyId: string) =>
        statement(
          `INSERT INTO audit (id, at, actor, action, key_id, detail) ${overriding} VALUES ($1, $2, 'anna', 'rotate', $3, '')`,
          ...[id, NOW, keyId],
        )
      await database.commit([audit(1_000, 'key_a')])
      const { position } = await store.listSecretHashes(undefined)
      await operatorOf(store).addKey({ ...key, id: 'key_b' }, secret('hash b'), act)
      await database.commit([statement('DELETE FROM audit WHERE key_id = $1', 'key_b'), audit(999, 'key_b')])
      await database.close()
      expect((await store.listSecretHashes(position)).hashes).toContain('hash b')
    })

    test('list only the hashes changed since, however many keys exist', async () => {
      const add = (number: number) =>
        operatorOf(store).addKey({ ...key, id: `key_${number}` }, secret(`hash ${number}`), act)
      for (let number = 0; number < 150; number++) await add(number)
      const { position } = await store.listSecretHashes(undefined)
      await add(150)
      const { hashes } = await store.listSecretHashes(position)
      expect(hashes).toContain('hash 150')
      expect(hashes).not.toContain('hash 0')
    })

    test('are counted by plan unless revoked or expired', async () => {
      const add = (id: string, facts: Partial<ApiKey>) =>
        operatorOf(store).addKey({ ...key, id, ...facts }, secret(`hash ${id}`), act)
      expect(await store.countActiveKeys(NOW)).toEqual({ free: 0, pro: 0, business: 0, enterprise: 0 })
      await add('key_a', { plan: 'free' })
      await add('key_b', { plan: 'free', expiresAt: NOW + 5 })
      await add('key_c', { plan: 'free', expiresAt: NOW })
      await add('key_d', { plan: 'pro', revokedAt: NOW })
      await add('key_e', { plan: 'enterprise', revokedAt: NOW + 5 })
      expect(await store.countActiveKeys(NOW)).toEqual({ free: 2, pro: 0, business: 0, enterprise: 0 })
      expect(await store.countActiveKeys(NOW + 5)).toEqual({ free: 1, pro: 0, business: 0, enterprise: 0 })
    })

    test('after a rotation accept both secrets, the earlier one with an expiry', async () => {
      await operatorOf(store).addKey(key, secret('hash a'), act)
      await operatorOf(store).rotateKey('key_a', secret('hash b', NOW + 1), NOW + 1_000, {
        at: NOW + 1,
        actor: 'bert',
      })
      expect(await store.findKey('hash a')).toEqual({ ...key, expiresAt: NOW + 1_000 })
      expect(await store.findKey('hash b')).toEqual(key)
      await operatorOf(store).rotateKey('key_a', secret('hash c', NOW + 2), NOW + 9_000, {
        at: NOW + 2,
        actor: 'bert',
      })
      expect((await store.findKey('hash a'))?.expiresAt).toBe(NOW + 1_000)
      expect((await store.findKey('hash b'))?.expiresAt).toBe(NOW + 9_000)
      const [record] = await store.listKeys()
      expect(record?.secrets.map(({ hint }) => hint)).toEqual([
        'hint of hash c',
        'hint of hash b',
        'hint of hash a',
      ])
      expect(record?.key).toEqual(key)
    })

    test('lose the secrets that have ended at the next rotation', async () => {
      await operatorOf(store).addKey(key, secret('hash a'), act)
      await operatorOf(store).rotateKey('key_a', secret('hash b', NOW + 1), NOW + 1_000, {
        at: NOW + 1,
        actor: 'bert',
      })
      await operatorOf(store).rotateKey('key_a', secret('hash c', NOW + 1_000), NOW + 9_000, {
        at: NOW + 1_000,
        actor: 'bert',
      })
      expect(await store.findKey('hash a')).toBeUndefined()
      expect((await store.findKeyRecord('key_a'))?.secrets).toHaveLength(2)
    })

    test('that expire before their secret keep their own expiry', async () => {
      await operatorOf(store).addKey({ ...key, expiresAt: NOW + 10 }, secret('hash a'), act)
      await operatorOf(store).rotateKey('key_a', secret('hash b'), NOW + 1_000, act)
      expect((await store.findKey('hash a'))?.expiresAt).toBe(NOW + 10)
      expect((await store.findKey('hash b'))?.expiresAt).toBe(NOW + 10)
    })

    test('are read one by one and in pages, in the order of the list', async () => {
      for (const id of ['key_c', 'key_a', 'key_b']) {
        await operatorOf(store).addKey({ ...key, id }, secret(`hash ${id}`), act)
      }
      const all = await store.listKeys()
      expect(all.map((record) => record.key.id)).toEqual(['key_c', 'key_a', 'key_b'])
      expect(await store.listKeyPage(2, undefined)).toEqual(all.slice(0, 2))
      expect(await store.listKeyPage(2, 'key_a')).toEqual(all.slice(2))
      expect(await store.listKeyPage(2, 'key_b')).toEqual([])
      expect(await store.findKeyRecord('key_b')).toEqual(all[2])
      expect(await store.findKeyRecord('key_x')).toBeUndefined()
    })

    test('can be paused and resumed', async () => {
      await operatorOf(store).addKey(key, secret('hash a'), act)
      await operatorOf(store).changeKey(key.id, { paused: true }, act)
      expect(await store.findKey('hash a')).toEqual({ ...key, pausedAt: NOW })
      expect((await store.countActiveKeys(NOW)).enterprise).toBe(0)
      const later = { ...act, at: NOW + 5 }
      await operatorOf(store).changeKey(key.id, { name: key.name, paused: true }, later)
      expect((await store.findKey('hash a'))?.pausedAt).toBe(NOW)
      await operatorOf(store).changeKey(key.id, { paused: false }, act)
      expect(await store.findKey('hash a')).toEqual(key)
    })

    const code = (hash: string) => ({ hash, expiresAt: NOW + 1_000 })

    test('are found by their pairing code until it expires or is replaced', async () => {
      await operatorOf(store).addKey(key, secret('hash a'), act)
      await operatorOf(store).addPairingCode('key_a', code('code 1'), act)
      expect(await store.findKeyByPairingCode('code 1', NOW + 999)).toEqual(key)
      expect(await store.findKeyByPairingCode('code 1', NOW + 1_000)).toBeUndefined()
      await operatorOf(store).addPairingCode('key_a', code('code 2'), act)
      expect(await store.findKeyByPairingCode('code 1', NOW)).toBeUndefined()
      expect(await store.findKeyByPairingCode('code 2', NOW)).toEqual(key)
      await operatorOf(store).rotateKey('key_a', secret('hash b'), NOW, act)
      expect(await store.findKeyByPairingCode('code 2', NOW)).toBeUndefined()
    })

    test('get a new secret for a pairing code once, from whichever process is first', async () => {
      const another = await underTest.open()
      await operatorOf(store).addKey(key, secret('hash a'), act)
      await operatorOf(store).addPairingCode('key_a', code('code'), { at: NOW, actor: 'anna' })
      expect(await store.pairKey('code', secret('late'), NOW + 1_000)).toBeUndefined()
      const results = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? store : another).pairKey('code', secret(`hash ${index}`, NOW + 1), NOW + 1),
        ),
      )
      const [paired, ...more] = results.filter((result) => result !== undefined)
      expect([paired?.key, paired?.secrets.length, more]).toEqual([key, 2, []])
      expect((await auditOf(store, 'key_a')).at(-1)).toEqual({
        at: NOW + 1,
        actor: 'Shop (key_a)',
        action: 'pair',
        detail: 'with a code of anna',
      })
      await another.close()
    })

    test('run a command only if the keys allow it at the time of the commit', async () => {
      const manager = (id: string): ApiKey => ({ ...key, id, permissions: ['keys'] })
      await operatorOf(store).addKey(manager('key_a'), secret('hash a'), act)
      await operatorOf(store).addKey(manager('key_b'), secret('hash b'), act)
      const another = await underTest.open()
      const pause = (by: Store, actor: string, keyId: string) =>
        by.runKeyCommand({ type: 'key', id: actor }, { type: 'change', keyId, change: { paused: true } }, NOW)
      for (let round = 0; round < 5; round++) {
        // Each of the two can pause the other or itself, and the operator both, but one of them must stay.
        await Promise.allSettled([
          pause(store, 'key_a', 'key_b'),
          pause(another, 'key_b', 'key_a'),
          pause(store, 'key_a', 'key_a'),
          pause(another, 'key_b', 'key_b'),
          operatorOf(store).changeKey('key_a', { paused: true }, act),
          operatorOf(another).changeKey('key_b', { paused: true }, act),
        ])
        const paused = (await store.listKeys()).filter((record) => record.key.pausedAt !== undefined)
        expect(paused).toHaveLength(1)
        for (const { key: record } of paused) {
          await operatorOf(store).changeKey(record.id, { paused: false }, act)
        }
      }
      await another.close()
    })

    test('each command is recorded with author, time and change', async () => {
      await operatorOf(store).addKey(key, secret('hash a'), act)
      await operatorOf(store).rotateKey('key_a', secret('hash b'), NOW + 1_000, {
        at: NOW + 1,
        actor: 'bert',
      })
      await operatorOf(store).revokeKey('key_a', { at: NOW + 2, actor: 'carl' })
      expect((await store.findKey('hash b'))?.revokedAt).toBe(NOW + 2)
      const entry = (at: number, actor: string, action: string) => ({
        at,
        actor,
        action,
        detail: expect.any(String),
      })
      expect((await auditOf(store, 'key_a')) as unknown[]).toEqual([
        entry(NOW, 'anna', 'create'),
        entry(NOW + 1, 'bert', 'rotate'),
        entry(NOW + 2, 'carl', 'revoke'),
      ])
    })
  })
}
