import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { createSecret } from '../../src/core/keys/api-key.ts'
import type { FinishedRequest } from '../../src/http/request-context.ts'
import { Logger, type LogSettings, standardOutput } from '../../src/telemetry/logger.ts'
import { logTo } from '../support/log-to.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { START, TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const start = (logRequests: string, options: Parameters<typeof TestService.start>[0] = {}) =>
  TestService.start({ ...options, settings: { logRequests, ...options.settings } })

/** Sends one request of each kind, and returns the statuses that were logged. */
async function statusesLogged(service: TestService): Promise<unknown[]> {
  await service.call('GET', '/inventory')
  await service.call('GET', '/inventory', { key: null })
  await service.setQuantity(404n, '{"quantity": 1}')
  const other = new Database(service.databasePath)
  other.run('ALTER TABLE orders RENAME TO away')
  await service.call('GET', '/store/orders')
  other.close()
  return (await service.logged()).map(({ status }) => status)
}

describe('the log', () => {
  test.each([
    ['errors', [401, 404, 503]],
    // Internal failures are logged with any setting.
    ['none', [503]],
  ])('with LOG_REQUESTS=%s logs the selected requests', async (setting, statuses) => {
    expect(await statusesLogged(await start(setting))).toEqual(statuses)
  })

  test('has one line for a failure of the database, and one line per minute with the number of repeats', async () => {
    const service = await start('all')
    await service.run('ALTER TABLE orders RENAME TO away')
    const fail = async (times: number) => {
      for (let sent = 0; sent < times; sent++) {
        expect((await service.call('GET', '/store/orders')).status).toBe(503)
      }
    }
    await fail(5)
    expect(service.logText.match(/"message":"failure"/g)).toHaveLength(1)
    service.now += 61_000
    await until(async () => service.logText.includes('failure repeated'))
    const [first, repeated, ...rest] = await service.logged()
    expect([first, repeated, rest]).toMatchObject([
      { message: 'failure', status: 503, error: expect.stringContaining('orders') },
      {
        level: 'error',
        message: 'failure repeated',
        times: expect.any(Number),
        error: expect.stringContaining('orders'),
      },
      [],
    ])
    await service.run('ALTER TABLE away RENAME TO orders')
  })

  test('has one JSON object per line with the key, the operation and the status', async () => {
    const service = await start('all')
    const { id, secret } = await service.createKey('pro')
    await service.setQuantity(2n, '{"quantity": 3}', { key: secret, headers: { 'X-Request-Id': 'order-17' } })
    const [line] = await service.logged()
    expect(line).toEqual({
      time: new Date(START).toISOString(),
      level: 'info',
      message: 'request',
      requestId: 'order-17',
      keyId: id,
      operation: 'updateInventory',
      method: 'PATCH',
      path: '/v1/inventory/2',
      status: 200,
      durationMs: expect.any(Number),
      clientAddress: '127.0.0.1',
    })
  })

  test('names the key of a request that was rejected by its limit', async () => {
    const service = await start('errors')
    const { id, secret } = await service.createKey('enterprise', { limits: { perMinute: 1, perDay: 9 } })
    await service.call('GET', '/inventory', { key: secret })
    await service.call('GET', '/inventory', { key: secret })
    expect(await service.logged()).toMatchObject([
      { level: 'warn', status: 429, keyId: id, operation: 'listInventory' },
    ])
  })

  test('shows at most 200 characters of the path, without its query', async () => {
    const service = await start('all')
    await service.fetch('GET', '/v1/inventory?token=abc')
    await service.fetch('GET', `/v1/${'x'.repeat(5_000)}`)
    const [first, second] = await service.logged()
    expect(first?.path).toBe('/v1/inventory')
    expect([String(second?.path).length, second?.operation]).toEqual([200, 'none'])
  })

  test('shows a bug with its stack and its cause', async () => {
    const service = await start('failures', {
      wrapStore: (store) => ({
        ...store,
        listOrders: () => Promise.reject(new TypeError('wrong turn', { cause: new Error('deep inside') })),
      }),
    })
    await service.call('GET', '/store/orders', { headers: { 'X-Request-Id': 'bug-1' } })
    const [line, ...others] = await service.logged()
    expect(others).toEqual([])
    expect(line).toMatchObject({ level: 'error', requestId: 'bug-1', operation: 'listOrders', status: 500 })
    expect(line?.error).toMatch(/TypeError: wrong turn\n\s+at .*\n(.*\n)*caused by Error: deep inside/)
  })

  test('never shows a key, wherever a caller sends it', async () => {
    const service = await start('all', { settings: { metricsPort: '0' } })
    const { secret } = await service.createKey('pro')
    await service.call('GET', '/inventory', { key: secret, headers: { 'X-Request-Id': secret } })
    await service.fetch('GET', `/v1/inventory/${secret}?key=${secret}`, { key: secret })
    await service.fetch('GET', `/${'x'.repeat(185)}${secret}`, { key: secret })
    await service.fetch('GET', '/v1/inventory', { key: null, headers: { Authorization: secret } })
    await service.fetch('GET', '/v1/inventory', { key: secret.slice(0, -1) })
    expect(await service.logged()).toHaveLength(5)
    const told = service.logText + (await (await fetch(service.metricsAddress)).text())
    expect(told).not.toContain(secret.slice(9, 15))
    expect(told).toContain('/v1/inventory/pst_live_[hidden]')
  })
})

const request: FinishedRequest = {
  requestId: 'r-1',
  traceId: undefined,
  operationName: 'listInventory',
  method: 'GET',
  path: '/v1/inventory',
  status: 200,
  durationMs: 1.2345,
  clientAddress: () => '192.0.2.1',
  keyId: 'key_a',
  limitRefusal: undefined,
  isPairing: false,
  problem: undefined,
  error: undefined,
}

/** A logger whose lines are recorded. */
function loggerTo({ isTerminal = false } = {}, settings: Partial<LogSettings> = {}) {
  const lines: string[] = []
  const output = logTo((line) => void lines.push(line), isTerminal)
  const logger = new Logger({ logRequests: 'all', ...settings }, output, () => START)
  return { logger, lines }
}

describe('the logger', () => {
  test('writes text on a terminal, without control characters of callers and without keys', () => {
    const { logger, lines } = loggerTo({ isTerminal: true })
    const path = `/v1/\u001b[2Jboo/${createSecret('production')}`
    logger.requestFinished({ ...request, path, status: 404 })
    logger.failure('save-limits', new TypeError('wrong \u001b[2J turn', { cause: new Error('deep inside') }))
    const [line = '', failure = ''] = lines
    expect(line).toMatch(/^\[\d\d:\d\d:\d\d\] WARN: request \{.*"keyId":"key_a".*\}\n$/)
    expect(line).toContain('"path":"/v1/\\u001b[2Jboo/pst_live_[hidden]"')
    expect(line).toContain('"durationMs":1.235')
    expect(failure).toMatch(
      /ERROR: failure \{"source":"save-limits"\}\n +error: TypeError: wrong \\x1b\[2J turn\n +at /,
    )
    expect(failure).toContain('caused by Error: deep inside\n')
  })

  test.each([
    ['all', ['info', 'warn']],
    ['errors', ['warn']],
    ['failures', ['warn']],
    ['none', []],
  ] as const)('with LOG_REQUESTS=%s a request slower than a second is logged with %p', (requests, levels) => {
    const { logger, lines } = loggerTo({}, { logRequests: requests })
    logger.requestFinished(request)
    logger.requestFinished({ ...request, durationMs: 1_500 })
    expect(lines.map((line) => JSON.parse(line).level)).toEqual([...levels])
  })

  test('a stuck reader loses lines instead of filling the memory, and gets their number', async () => {
    const folder = temporaryFolder()
    const fifo = join(folder, 'fifo')
    Bun.spawnSync(['mkfifo', fifo])
    // Opened for both, so that opening it does not wait for the other end.
    const fd = openSync(fifo, constants.O_RDWR)
    const logger = new Logger({ logRequests: 'all' }, standardOutput(fd))
    const padding = 'x'.repeat(1_000)
    for (let count = 0; count < 10_000; count++) logger.info(padding)
    // A stop does not wait for the reader for long.
    await logger.flush()
    const reader = Bun.spawn(['cat', fifo], { stdout: 'pipe' })
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of reader.stdout) {
      text += decoder.decode(chunk, { stream: true })
      // Only the last lines are searched: searching all of them after each chunk takes seconds.
      if (text.slice(-chunk.length - 1_000).includes('"dropped"')) break
    }
    reader.kill()
    const lines = text.split('\n').filter((line) => line.includes(padding))
    const dropped = Number(/"dropped":(\d+)/.exec(text)?.[1])
    expect(lines.length + dropped).toBe(10_000)
    expect(lines.length).toBeGreaterThan(5_000)
  })

  test('a closed output does not stop the service', async () => {
    const folder = temporaryFolder()
    const fd = openSync(join(folder, 'log'), 'w')
    closeSync(fd)
    const logger = new Logger({ logRequests: 'all' }, standardOutput(fd))
    logger.info('first')
    await logger.flush()
    logger.info('second')
    await logger.flush()
  })
})
