import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createPairingCode, toStoredPairingCode } from '../../src/core/keys/pairing.ts'
import { auditOf, operatorOf } from '../support/operator.ts'
import { standingOf } from '../support/standing.ts'
import { TestService } from '../support/test-service.ts'

const MINUTE = 60_000
let service: TestService
beforeAll(async () => {
  service = await TestService.start({ settings: { logRequests: 'none', trustProxy: '1' } })
})
afterAll(() => service.stop())
beforeEach(() => {
  // The limits of addresses begin anew.
  service.now += 2 * MINUTE
})

interface Paired {
  readonly key: { readonly id: string; readonly secrets: readonly { readonly hint: string }[] }
  readonly secret: string
}

async function newCode(keyId: string): Promise<string> {
  const answer = await service.call('POST', `/keys/${keyId}/pairing-code`)
  expect(answer.status).toBe(201)
  return (answer.json as { code: string }).code
}

const pair = (code: string | null, address = '192.0.2.1') =>
  service.call('POST', '/keys/pair', { key: code, headers: { 'X-Forwarded-For': address } })
const paired = async (code: string) => (await pair(code)).json as Paired
const read = (key: string) => service.call('GET', '/inventory', { key })
const WRONG = '00000000'

describe('pairing', () => {
  test('exchanges a code for the key with a new secret, and the old one stays valid', async () => {
    const { id, secret } = await service.createKey('pro', { permissions: ['stock'] })
    const answer = await service.call('POST', `/keys/${id}/pairing-code`)
    const { code, expiresAt } = answer.json as { code: string; expiresAt: string }
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/)
    expect(expiresAt).toBe(new Date(service.now + 10 * MINUTE).toISOString())
    const exchanged = await pair(code)
    expect([exchanged.status, exchanged.headers.get('Cache-Control')]).toEqual([200, 'no-store'])
    expect(exchanged.headers.get('X-RateLimit-Limit')).toBe('300')
    const { key, secret: added } = exchanged.json as Paired
    expect([key.id, key.secrets.length]).toEqual([id, 2])
    expect(added).not.toBe(secret)
    for (const each of [secret, added]) expect((await read(each)).status).toBe(200)
    const entry = (await auditOf(service.store, id)).at(-1)
    expect(entry).toMatchObject({ action: 'pair', actor: `pro key (${id})` })
  })

  test('accepts a code in lower case, with a blank or without a dash, and letters that look like digits', async () => {
    const { id } = await service.createKey('pro')
    for (const code of ['oLab-CDEF', 'OLAB CDEF', '01abcdef']) {
      const stored = toStoredPairingCode('01ABCDEF', service.now)
      await operatorOf(service.store).addPairingCode(id, stored, { at: service.now, actor: 'test' })
      expect([code, (await pair(code)).status]).toEqual([code, 200])
    }
  })

  test('a code ends when another one is created, and when the key is rotated, paused or revoked', async () => {
    const { id } = await service.createKey('pro')
    const change = (method: string, path: string, body: string) =>
      service.send(method, `/keys/${id}${path}`, body)
    const replaced = await newCode(id)
    const rotated = await newCode(id)
    expect((await pair(replaced)).status).toBe(401)
    await change('POST', '/rotate', '{}')
    expect((await pair(rotated)).status).toBe(401)
    const paused = await newCode(id)
    await change('PATCH', '', '{"paused": true}')
    await change('PATCH', '', '{"paused": false}')
    expect((await pair(paused)).status).toBe(401)
    const revoked = await newCode(id)
    await service.call('DELETE', `/keys/${id}`)
    expect((await pair(revoked)).status).toBe(401)
  })

  test('a key keeps its ten newest secrets', async () => {
    const { id, secret } = await service.createKey('pro')
    const secrets: string[] = []
    for (let device = 0; device < 10; device++) {
      service.now += 1_000
      secrets.push((await paired(await newCode(id))).secret)
    }
    expect((await service.store.findKeyRecord(id))?.secrets).toHaveLength(10)
    expect((await read(secret)).status).toBe(401)
    for (const each of secrets) expect((await read(each)).status).toBe(200)
  })

  test('the code is stored only as a hash', async () => {
    const { id } = await service.createKey('pro')
    const code = (await newCode(id)).replace('-', '')
    const rows = await service.run('SELECT * FROM pairing_codes')
    expect(rows).not.toHaveLength(0)
    expect(
      JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain(code)
    expect(JSON.stringify((await auditOf(service.store, id)).map(({ detail }) => detail))).not.toContain(code)
  })
})

describe('guessing pairing codes', () => {
  test('parallel guesses cannot exceed the limit of their address, which then gets 429 for the right code, too', async () => {
    const { id } = await service.createKey('pro')
    const code = await newCode(id)
    const guesses = await Promise.all(Array.from({ length: 350 }, () => pair(createPairingCode())))
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(300)
    const refused = await pair(code)
    expect([refused.status, refused.error.code]).toEqual([429, 'rate_limit_exceeded'])
    expect(refused.headers.get('Retry-After')).toBe('60')
    expect(standingOf(refused)).toEqual({
      limit: 300,
      remaining: 0,
      reset: Math.floor(service.now / 1_000) + 60,
    })
    expect((await pair(code, '192.0.2.2')).status).toBe(200)
    service.now += MINUTE
    expect((await pair(await newCode(id))).status).toBe(200)
  })

  test('a wrong code counts as a request without a valid key, and is 401 with the headers of one', async () => {
    const answer = await pair(WRONG)
    expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([
      401,
      'Bearer realm="petstore", error="invalid_token"',
    ])
    expect(answer.headers.get('X-RateLimit-Remaining')).toBe('299')
    const missing = await pair(null)
    expect([missing.status, missing.headers.get('X-RateLimit-Remaining')]).toEqual([401, '298'])
    expect(missing.error.message).toContain('the pairing code is missing')
  })

  test('neither a key nor a demo key is a code, and a code is not a key', async () => {
    const { id } = await service.createKey('pro')
    const code = await newCode(id)
    expect((await pair(service.key)).status).toBe(401)
    for (const token of [code, code.replace('-', '')]) expect((await read(token)).status).toBe(401)
  })

  test('every attempt is logged with its address, whatever the settings, and never with the code', async () => {
    const { id } = await service.createKey('pro')
    const code = await newCode(id)
    await pair(WRONG, '192.0.2.7')
    await pair(code)
    const lines = (await service.logged()).filter(({ operation }) => operation === 'pairKey').slice(-2)
    expect(lines).toMatchObject([
      { status: 401, clientAddress: '192.0.2.7' },
      { status: 200, keyId: id, clientAddress: '192.0.2.1' },
    ])
    for (const text of [code, code.replace('-', ''), WRONG]) expect(service.logText).not.toContain(text)
  })
})
