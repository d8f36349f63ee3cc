import { describe, expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'

const ask = (service: TestService, path: string, method = 'GET') => service.fetch(method, path, { key: null })

describe('health pages', () => {
  test('need no key and are never cached', async () => {
    const service = await TestService.start()
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
    await service.stop()
  })

  test('are not counted against anybody', async () => {
    const service = await TestService.start({ settings: { anonymousPerMinute: '1' } })
    for (let asked = 0; asked < 5; asked++) expect((await ask(service, '/readyz')).status).toBe(200)
    await service.stop()
  })

  test('/readyz is 503 with an Error body while the database does not answer; /healthz stays 200', async () => {
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
    expect((await ask(service, '/readyz')).status).toBe(200)
    await service.stop()
  })

  test('/readyz is 503 too when the check itself has a bug', async () => {
    const service = await TestService.start({
      wrapStore: (store) => ({ ...store, ping: () => Promise.reject(new TypeError('the secret detail')) }),
    })
    const answer = await ask(service, '/readyz')
    expect([answer.status, answer.error.code]).toEqual([503, 'service_unavailable'])
    expect(answer.text).not.toContain('secret detail')
    await service.stop()
  })

  test('/readyz is 503 while the service stops, and every answer then closes its connection', async () => {
    const service = await TestService.start()
    const stopped = service.stop()
    // Both at once: it waits for a moment in which nothing comes, and no longer.
    const [answer, alive] = await Promise.all([ask(service, '/readyz'), ask(service, '/healthz')])
    expect([answer.status, answer.error.message]).toEqual([503, 'the service is stopping'])
    expect(answer.headers.get('Connection')).toBe('close')
    expect([alive.status, alive.headers.get('Connection')]).toEqual([200, 'close'])
    await stopped
  })
})
