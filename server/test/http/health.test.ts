import { describe, expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { ServiceError } from '../../src/core/values/errors.ts'
import { RawConnection } from '../support/raw-connection.ts'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const ask = (service: TestService, path: string, method = 'GET') => service.fetch(method, path, { key: null })

describe('health pages', () => {
  test('need no key, count against no limit and are never cached', async () => {
    const service = await TestService.start({ anonymousPerMinute: 1 })
    for (const [path, status] of [
      ['/healthz', 'ok'],
      ['/readyz', 'ready'],
    ] as const) {
      const answer = await ask(service, path)
      expect([answer.status, answer.json]).toEqual([200, { status }])
      expect(answer.headers.get('Cache-Control')).toBe('no-store')
      expect(answer.headers.get('Content-Type')).toBe('application/json')
      expect((await ask(service, path, 'HEAD')).status).toBe(200)
      const refused = await ask(service, path, 'POST')
      expect([refused.status, refused.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
    }
  })

  test('/readyz is 503 with an Error body while the database does not respond; /healthz stays 200', async () => {
    const service = await TestService.start()
    await service.run('ALTER TABLE log RENAME TO away')
    const answer = await ask(service, '/readyz')
    expect([answer.status, answer.error.code, answer.error.status]).toEqual([503, 'service_unavailable', 503])
    expect(answer.headers.get('Retry-After')).toBe('1')
    expect(answer.text).not.toMatch(/no such table|does not exist/)
    expect((await ask(service, '/healthz')).status).toBe(200)
    expect(await service.logged()).toMatchObject([
      { operation: 'readyz', error: expect.stringContaining('log') },
    ])
    await service.run('ALTER TABLE away RENAME TO log')
    await until(async () => (await ask(service, '/readyz')).status === 200)
  })

  test('/readyz is 503 too if the check itself has a bug', async () => {
    const service = await TestService.start({
      wrapStore: (store) => ({ ...store, ping: () => Promise.reject(new TypeError('the secret detail')) }),
    })
    const answer = await ask(service, '/readyz')
    expect([answer.status, answer.error.code]).toEqual([503, 'service_unavailable'])
    expect(answer.text).not.toContain('secret detail')
  })

  test('/readyz names the problem to callers on the same machine only; the log always has it', async () => {
    const cause = new Error('db1.internal:5432: nothing listens there')
    const problem = new ServiceError('service_unavailable', `the database cannot be used: ${cause.message}`, {
      cause,
    })
    const service = await TestService.start({
      settings: { host: '0.0.0.0' },
      wrapStore: (store) => ({ ...store, ping: () => Promise.reject(problem) }),
    })
    const messageFor = async (host: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`http://${host}:${service.port}/readyz`, { headers })
      expect(response.status).toBe(503)
      return response.json()
    }
    const general = { message: 'the service is not ready' }
    expect(await messageFor('127.0.0.1', { 'X-Forwarded-For': '203.0.113.9' })).toMatchObject(general)
    expect(await messageFor('127.0.0.1', { Forwarded: 'for=203.0.113.9' })).toMatchObject(general)
    const own = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)
    if (own === undefined) console.log('this machine has no address but its loopback')
    else expect(await messageFor(own.address)).toMatchObject(general)
    const [first] = await service.logged()
    expect(first).toMatchObject({ operation: 'readyz', error: expect.stringContaining('db1.internal:5432') })
    expect(await messageFor('127.0.0.1')).toMatchObject({ message: problem.message })
  })

  test('/readyz queries the database at most once a second, however often it is called', async () => {
    let pings = 0
    const service = await TestService.start({
      wrapStore: (store) => ({
        ...store,
        ping: () => {
          pings++
          return store.ping()
        },
      }),
    })
    const began = performance.now()
    for (let asked = 0; asked < 200; asked++) expect((await ask(service, '/readyz')).status).toBe(200)
    expect(pings).toBeLessThanOrEqual(1 + (performance.now() - began) / 1_000)
    await until(async () => (await ask(service, '/readyz')).status === 200 && pings >= 2)
  })

  test('/readyz is 503 while the service stops, and every response then closes its connection', async () => {
    const service = await TestService.start({ stopGraceMs: 10_000 })
    const connections = await Promise.all([
      RawConnection.open(service.address),
      RawConnection.open(service.address),
    ])
    for (const connection of connections) {
      connection.sendRequest('GET', '/readyz', service.key)
      expect((await connection.answer())?.status).toBe(200)
    }
    const stopped = service.stop()
    const [ready, alive] = connections
    ready.sendRequest('GET', '/readyz', service.key)
    alive.sendRequest('GET', '/healthz', service.key)
    const [answer, other] = await Promise.all([ready.answer(), alive.answer()])
    expect([answer?.status, JSON.parse(answer?.body ?? '').message]).toEqual([503, 'the service is stopping'])
    expect([answer?.head, other?.head]).toEqual([
      expect.stringContaining('Connection: close'),
      expect.stringContaining('Connection: close'),
    ])
    expect(other?.status).toBe(200)
    await expect(fetch(`${service.address}/healthz`)).rejects.toThrow()
    await stopped
  })

  test('a stopping service behind a proxy keeps serving, also new connections, while /readyz is 503', async () => {
    const service = await TestService.start({ stopDelayMs: 1_000 })
    const began = performance.now()
    const stopped = service.stop()
    const isDelayOver = () => performance.now() - began > 1_000
    const answers = () =>
      Promise.all([
        ask(service, '/readyz'),
        service.fetch('GET', '/v1/inventory', { headers: { Connection: 'close' } }),
      ])
    while (!isDelayOver()) {
      // Responses and refusals after the delay prove nothing.
      const [ready, list] = await answers().catch((error: unknown) => {
        if (!isDelayOver()) throw error
        return []
      })
      if (isDelayOver()) break
      expect([ready?.status, list?.status]).toEqual([503, 200])
      expect(ready?.headers.get('Connection')).not.toBe('close')
    }
    await stopped
    expect(performance.now() - began).toBeGreaterThan(1_000)
  })
})
