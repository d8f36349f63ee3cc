import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { HostileSocket } from '../../../../wire/test/hostile-socket.ts'
import { parsePrometheusText } from '../../support/prometheus-text.ts'
import { TestService } from '../../support/test-service.ts'
import { until } from '../../support/until.ts'
import { conflictingRequests, malformedRequests, requestsWithUnreadBodies } from './requests.ts'

setDefaultTimeout(120_000)

let service: TestService
let before: unknown
beforeAll(async () => {
  service = await TestService.start({ settings: { metricsPort: '0', logRequests: 'all' } })
  before = await service.contents()
})
afterAll(() => service.stop())

/** Only names: the texts contain a key, which exists only once the service runs. */
const names = (make: (key: string) => readonly { readonly name: string }[]) =>
  make('').map(({ name }) => name)

function textOf(
  make: (key: string) => readonly { readonly name: string; readonly text: string }[],
  name: string,
) {
  return make(service.key).find((one) => one.name === name)?.text ?? ''
}

/** Expects one 400 with the Error body and the headers of every response, then a closed connection. */
async function expectRefusal(text: string): Promise<void> {
  const socket = await HostileSocket.open(service.port)
  socket.send(text)
  const answer = await socket.answer('PATCH')
  expect(answer?.status).toBe(400)
  expect(JSON.parse(answer?.text ?? '')).toMatchObject({ code: 'invalid_request', status: 400 })
  expect(answer?.headers.get('Connection')).toBe('close')
  for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id']) {
    expect(answer?.headers.get(name)).toBeTruthy()
  }
  await socket.closed
  expect(socket.received).toBe('')
  expect(await service.contents()).toEqual(before)
}

describe('a request with an ambiguous end is rejected, and what follows is not treated as a request', () => {
  test.each(names(conflictingRequests))('%s', async (name) => {
    await expectRefusal(textOf(conflictingRequests, name))
  })
})

describe('an invalid request is rejected, and the connection closed', () => {
  test.each(names(malformedRequests))('%s', async (name) => {
    await expectRefusal(textOf(malformedRequests, name))
  })
})

describe('an unread body is skipped completely, and the next request is the next one', () => {
  test.each(requestsWithUnreadBodies('').map(({ name, method }) => [name, method]))(
    '%s',
    async (name, method) => {
      const socket = await HostileSocket.open(service.port)
      socket.send(textOf(requestsWithUnreadBodies, name))
      socket.send('GET /readyz HTTP/1.1\r\nHost: petstore.test\r\n\r\n')
      expect((await socket.answer(method))?.text).not.toContain('666')
      expect((await socket.answer())?.text).toBe('{"status":"ready"}')
      socket.end()
      expect(await service.contents()).toEqual(before)
    },
  )
})

describe('an update with an incomplete body', () => {
  const head = (framing: string) =>
    `PATCH /v1/inventory/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`

  test.each([
    ['is truncated', 'Content-Length: 17', '{"quantity":666}'],
    ['is truncated between chunks', 'Transfer-Encoding: chunked', '10\r\n{"quantity":666}\r\n'],
  ])('changes nothing and is no failure of the service: it %s', async (_, framing, body) => {
    const told = (await service.logged()).length
    const socket = await HostileSocket.open(service.port)
    socket.send(head(framing) + body)
    // The service reads it once it counts as in progress.
    await until(async () => (await metric('petstore_open_requests')) > 0)
    socket.end()
    await until(async () => (await service.logged()).length > told)
    expect((await service.logged()).at(-1)).toMatchObject({ status: 400, operation: 'updateInventory' })
    expect(await service.contents()).toEqual(before)
  })

  test('a duplicate length does not admit a large body', async () => {
    const socket = await HostileSocket.open(service.port)
    const length = 300_000
    socket.send(head(`Content-Length: ${length}\r\nContent-Length: ${length}`) + ' '.repeat(length))
    expect((await socket.answer('PATCH'))?.status).toBe(400)
    socket.end()
  })

  test('no request of this file caused a failure', async () => {
    const text = await (await fetch(service.metricsAddress)).text()
    expect(text).toContain('petstore_requests_total{operation="updateInventory",status="400"}')
    expect(text).not.toMatch(/status="5/)
  })
})

async function metric(name: string): Promise<number> {
  const families = parsePrometheusText(await (await fetch(service.metricsAddress)).text())
  return families.get(name)?.samples[0]?.value ?? Number.NaN
}
