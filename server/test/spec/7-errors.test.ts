import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import contract from '../../../openapi.json'
import { ERROR_CODES } from '../../src/core/values/errors.ts'
import { RawConnection } from '../support/raw-connection.ts'
import { standingOf } from '../support/standing.ts'
import { TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

describe('section 7: every error response carries an Error body', () => {
  test('the contract lists exactly the existing error codes', () => {
    expect(contract.components.schemas.Error.properties.code.enum).toEqual([...ERROR_CODES])
  })

  test.each([
    '/v1/nothing',
    '/v1',
    '/v1/',
    '/index.html',
    '/v2/inventory',
    '/v1/inventory/1/2',
    '/V1/inventory',
    '/v1/store',
  ])('the unknown path %s is 404', async (path) => {
    const answer = await service.fetch('GET', path)
    expect([answer.status, answer.error.code, answer.error.status]).toEqual([404, 'not_found', 404])
    expect(answer.error.message).toContain(path)
    expect(standingOf(answer).limit).toBe(1_000_000)
  })

  test.each(Object.entries(contract.paths))(
    'every other method of %s is 405 with Allow',
    async (path, methods) => {
      const named = ['GET', 'PATCH', 'POST', 'DELETE'].filter((method) => method.toLowerCase() in methods)
      const allowed = named.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      const others = ['GET', 'PATCH', 'POST', 'DELETE', 'PUT', 'OPTIONS', 'PURGE']
      for (const method of others.filter((other) => !named.includes(other))) {
        const answer = await service.call(
          method,
          path.replaceAll(/\{keyId\}/g, 'key_1').replaceAll(/\{\w+\}/g, '1'),
        )
        expect([method, answer.status, answer.error.code]).toEqual([method, 405, 'method_not_allowed'])
        expect(new Set(answer.headers.get('Allow')?.split(', '))).toEqual(new Set(allowed))
        expect(standingOf(answer).limit).toBe(1_000_000)
      }
    },
  )

  test('OPTIONS * is 405 with the methods of all operations', async () => {
    const connection = await RawConnection.open(service.address)
    connection.sendRequest('OPTIONS', '*', service.key)
    const { status, head } = (await connection.answer()) ?? {}
    connection.end()
    expect([status, /^Allow: (.*)$/m.exec(head ?? '')?.[1]?.trim()]).toEqual([
      405,
      'DELETE, GET, HEAD, PATCH, POST',
    ])
  })

  test.each(['FOO', 'get'])('the unknown method %s is 405 too', async (method) => {
    const connection = await RawConnection.open(service.address)
    connection.sendRequest(method, '/v1/inventory', service.key)
    const { status, head, body } = (await connection.answer()) ?? {}
    connection.end()
    expect([status, JSON.parse(body ?? '').code]).toEqual([405, 'method_not_allowed'])
    expect(head).toContain('X-RateLimit-Limit: 1000000')
  })

  test('a bug is 500, leaks nothing, and is logged with all details', async () => {
    const broken = await TestService.start({
      wrapStore: (store) => ({
        ...store,
        listOrders: async () => {
          throw new TypeError('the secret detail')
        },
      }),
    })
    const answer = await broken.call('GET', '/store/orders')
    expect([answer.status, answer.error.code]).toEqual([500, 'internal_error'])
    expect(answer.text).not.toContain('secret detail')
    expect(answer.error.message).toContain(answer.headers.get('X-Request-Id') ?? 'none')
    expect(standingOf(answer).limit).toBe(1_000_000)
    expect((await broken.logged())[0]?.error).toContain('TypeError: the secret detail')
  })

  test('a bug in the key lookup is 500 too, with all headers', async () => {
    const broken = await TestService.start({
      wrapStore: (store) => ({ ...store, findKey: () => Promise.reject(new TypeError('the secret detail')) }),
    })
    const answer = await broken.call('GET', '/store/orders')
    expect(answer.status).toBe(500)
    expect(answer.text).not.toContain('secret detail')
    expect(standingOf(answer)).toMatchObject({ limit: 300, remaining: 300 })
  })

  test('a failing database is 503 with Retry-After, and recovers by itself', async () => {
    const failing = await TestService.start()
    const { key } = failing
    await failing.run('ALTER TABLE log RENAME TO away')
    for (const answer of [
      await failing.call('GET', '/inventory', { key }),
      await failing.setQuantity(1n, '{"quantity": 9}'),
    ]) {
      expect([answer.status, answer.error.code]).toEqual([503, 'service_unavailable'])
      expect(answer.headers.get('Retry-After')).toBe('1')
      expect(answer.text).not.toContain('history')
      expect(standingOf(answer).limit).toBe(1_000_000)
    }
    await failing.run('ALTER TABLE keys RENAME TO gone')
    failing.now += 1_000
    const unknown = await failing.call('GET', '/inventory', { key })
    expect([unknown.status, standingOf(unknown).limit]).toEqual([503, 300])

    await failing.run('ALTER TABLE gone RENAME TO keys')
    await failing.run('ALTER TABLE away RENAME TO log')
    expect((await failing.setQuantity(1n, '{"quantity": 9}')).status).toBe(200)
  })

  test('an update waits for a write of another process while other requests are answered', async () => {
    const other = new Database(service.databasePath)
    other.run('BEGIN IMMEDIATE')
    const waiting = service.setQuantity(1n, '{"quantity": 123}')
    expect((await service.call('GET', '/inventory')).items[0]?.quantity).not.toBe(123)
    other.run('COMMIT')
    other.close()
    expect((await waiting).item.quantity).toBe(123)
  })

  test('an unparseable request is rejected and its connection closed', async () => {
    const connection = await RawConnection.open(service.address)
    connection.send('NONSENSE\r\n\r\n')
    const { status, body } = (await connection.answer()) ?? {}
    expect([status, JSON.parse(body ?? '')]).toMatchObject([400, { code: 'invalid_request', status: 400 }])
    expect(await connection.answer()).toBeUndefined()
  })
})
