import { describe, expect, test } from 'bun:test'
import type { ServiceOptions } from '../../src/service/compose.ts'
import { RawConnection } from '../support/raw-connection.ts'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

let service: TestService

async function start(connectionLimits: ServiceOptions['connectionLimits'] = {}) {
  service = await TestService.start({ connectionLimits })
  return service
}

/** Checks that the response is an Error and closes its connection; returns its code and status. */
async function refusalOf(connection: RawConnection) {
  const answer = await connection.answer()
  expect(answer?.head).toContain('Connection: close')
  expect(answer?.head).toContain('X-RateLimit-Limit: ')
  expect(await connection.answer()).toBeUndefined()
  const { code, status } = JSON.parse(answer?.body ?? '{}')
  expect(status).toBe(answer?.status)
  return { code, status }
}

describe('a connection that keeps the service waiting', () => {
  test('gets 408 for a late head or body, nothing between requests, and follows the timeouts', async () => {
    await start({ requestTimeoutSeconds: 1, keepAliveSeconds: 1 })
    const [head, body, idle] = await Promise.all([
      RawConnection.open(service.address),
      RawConnection.open(service.address),
      RawConnection.open(service.address),
    ])
    idle.sendRequest('GET', '/v1/inventory', service.key)
    expect((await idle.answer())?.head).toContain('Keep-Alive: timeout=1')
    const began = performance.now()
    head.send('GET /v1/inventory HTTP/1.1\r\nHost: petstore.te')
    body.sendRequest('PATCH', '/v1/inventory/1', service.key, '')
    await body.answer()
    body.send(
      `PATCH /v1/inventory/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"quan`,
    )
    const late = { code: 'request_timeout', status: 408 }
    expect(await Promise.all([refusalOf(head), refusalOf(body), idle.answer()])).toEqual([
      late,
      late,
      undefined,
    ])
    expect(performance.now() - began).toBeGreaterThan(990)
    const problem = 'request not received within 1 s'
    expect(await service.logged()).toContainEqual(
      expect.objectContaining({ level: 'warn', status: 408, problem }),
    )
  })

  test('stays open for 75 s between requests by default, as every response says', async () => {
    await start()
    const answer = await service.call('GET', '/inventory')
    expect(answer.headers.get('Keep-Alive')).toBe('timeout=75')
    expect(answer.headers.get('Strict-Transport-Security')).toBeNull()
  })
})

describe('an invalid request', () => {
  test('is logged with its reason at every LOG_REQUESTS level but none', async () => {
    await start()
    const connection = await RawConnection.open(service.address)
    connection.send('GET /v1/inventory HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n')
    expect(await refusalOf(connection)).toEqual({ code: 'invalid_request', status: 400 })
    expect(await service.logged()).toMatchObject([
      { level: 'warn', status: 400, clientAddress: '127.0.0.1', problem: expect.stringContaining('Host') },
    ])
  })

  test('is logged at most a hundred times a second', async () => {
    await start()
    for (let sent = 0; sent < 5; sent++) {
      const connection = await RawConnection.open(service.address)
      connection.send('nonsense\r\n\r\n')
      await refusalOf(connection)
      if (sent === 3) service.now += 10
    }
    expect(await service.logged()).toHaveLength(2)
  })
})

describe('connections of one address', () => {
  test('above the maximum get 503 with the Error body, until others close', async () => {
    await start({ maxConnectionsPerAddress: 2 })
    const first = await RawConnection.open(service.address)
    const second = await RawConnection.open(service.address)
    const useBoth = async () => {
      for (const connection of [first, second]) {
        connection.sendRequest('GET', '/v1/inventory', service.key)
        expect((await connection.answer())?.status).toBe(200)
      }
    }
    // Connections that carried a valid key are not closed to make room.
    await useBoth()
    const third = await RawConnection.open(service.address)
    expect(await refusalOf(third)).toEqual({ code: 'service_unavailable', status: 503 })
    await useBoth()
    first.end()
    await until(async () => {
      const another = await RawConnection.open(service.address)
      another.sendRequest('GET', '/v1/inventory', service.key)
      return (await another.answer())?.status === 200
    })
  })

  test('that are silent or sent no valid key make room for a valid client', async () => {
    await start({ maxConnectionsPerAddress: 2 })
    const stranger = await RawConnection.open(service.address)
    stranger.sendRequest('GET', '/v1/inventory', 'wrong')
    expect((await stranger.answer())?.status).toBe(401)
    await RawConnection.open(service.address)
    const clients = await Promise.all([1, 2].map(() => RawConnection.open(service.address)))
    for (const client of clients) {
      client.sendRequest('GET', '/v1/inventory', service.key)
      expect((await client.answer())?.status).toBe(200)
    }
    expect(await stranger.answer()).toBeUndefined()
  })
})
