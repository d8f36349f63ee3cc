import { expect, test } from 'bun:test'
import { TestService } from '../../server/test/support/test-service.ts'
import { clientOf, startClient } from './support/live-service.ts'

test('keys are created, listed, changed, rotated and revoked', async () => {
  const client = clientOf(await TestService.start())
  const { key, secret } = await client.keys.create({ name: 'Anna', plan: 'free', permissions: ['stock'] })
  expect(secret).toStartWith('pst_live_')
  expect(await client.keys.get(key.id)).toEqual(key)
  const listed = await Array.fromAsync(client.keys.list({ limit: 1 }))
  expect(listed.map(({ id }) => id)).toContain(key.id)
  expect(await client.keys.update(key.id, { paused: true })).toMatchObject({ paused: true })
  expect((await client.keys.rotate(key.id, { graceSeconds: 0 })).secret).not.toBe(secret)
  await client.keys.revoke(key.id)
  expect((await client.keys.get(key.id)).revokedAt).toBeString()
  const audit = await Array.fromAsync(client.keys.audit(key.id, { limit: 2 }))
  expect(audit.map(({ action }) => action)).toEqual(['revoke', 'rotate', 'change', 'create'])
  await expect(client.keys.get('key_unknown')).rejects.toMatchObject({ code: 'not_found' })
})

test('a client whose apiKey is a pairing code gets the key of the code', async () => {
  const { client, service } = await startClient()
  const { id } = await service.createKey('pro', { name: 'The till' })
  const { code } = await client.keys.createPairingCode(id)
  const paired = await clientOf(service, { apiKey: code }).keys.pair()
  expect(paired.key).toMatchObject({ id, name: 'The till' })
  const limits = await clientOf(service, { apiKey: paired.secret }).limits.get()
  expect(limits.key.id).toBe(id)
  await expect(clientOf(service, { apiKey: code }).keys.pair()).rejects.toMatchObject({
    code: 'unauthorized',
  })
})
