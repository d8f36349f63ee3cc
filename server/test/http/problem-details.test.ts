import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type CallOptions, TestService } from '../support/test-service.ts'

const PROBLEM = 'application/problem+json'

let service: TestService
beforeAll(async () => {
  service = await TestService.start({ connectionLimits: { requestTimeoutSeconds: 1 } })
})
afterAll(() => service.stop())

const asking = (accept: string): CallOptions => ({ headers: { Accept: accept } })

test.each([
  PROBLEM,
  `application/json, ${PROBLEM}`,
  `${PROBLEM}, */*;q=0.1`,
  `text/csv, Application/Problem+JSON; q=0.5`,
])('Accept: %s asks for problem details', async (accept) => {
  const answer = await service.call('GET', '/inventory/404', asking(accept))
  expect(answer.headers.get('Content-Type')).toBe(PROBLEM)
})

test.each([
  '*/*',
  'application/*',
  'application/json',
  `${PROBLEM};q=0.5, application/json`,
  `${PROBLEM};q=0.5, application/*;q=0.6`,
  `${PROBLEM};q=0.5, */*`,
  `${PROBLEM};q=0`,
  'text/event-stream',
])('Accept: %s does not', async (accept) => {
  const answer = await service.call('GET', '/inventory/404', asking(accept))
  expect(answer.headers.get('Content-Type')).toBe('application/json')
})

test('problem details have the fields of the Error body, with the same text', async () => {
  const body = '{"reason": "sold", "changes": [{"petId": 9007199254740993, "delta": -9}]}'
  const plain = await service.send('POST', '/inventory/adjustments', body)
  const problem = await service.send('POST', '/inventory/adjustments', body, asking(PROBLEM))
  expect([plain.status, problem.status]).toEqual([409, 409])
  expect(problem.text).toEndWith(plain.text.slice(1))
  expect(problem.text).toContain('"petId":9007199254740993')
  expect(problem.json).toMatchObject({
    type: '/docs/guides/errors#insufficient_stock',
    title: 'Insufficient stock',
    status: 409,
    detail: plain.error.message,
  })
})

test('the type of a problem is an address in the API docs', async () => {
  const { type } = (await service.fetch('GET', '/v1/nowhere', asking(PROBLEM))).json as { type: string }
  const [path = '', anchor] = type.split('#')
  const page = await service.fetch('GET', path)
  expect([page.status, page.text.includes(`id="${anchor}"`)]).toEqual([200, true])
})

test('a result is JSON, whatever form of errors the caller asks for', async () => {
  const answer = await service.call('GET', '/inventory', asking(PROBLEM))
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'application/json'])
})

test('errors outside of operations are problem details as well', async () => {
  const half = new ReadableStream({ start: (body) => body.enqueue(Buffer.from('{')) })
  const requests: readonly (readonly [
    status: number,
    method: string,
    path: string,
    options?: CallOptions,
  ])[] = [
    [401, 'GET', '/v1/inventory', { key: null }],
    [404, 'GET', '/v1/nowhere'],
    [405, 'PUT', '/v1/inventory'],
    [405, 'POST', '/docs', { key: null }],
    [408, 'PATCH', '/v1/inventory/1', { body: half }],
    [413, 'PATCH', '/v1/inventory/1', { body: 'x'.repeat(70_000) }],
  ]
  for (const [status, method, path, options] of requests) {
    const answer = await service.fetch(method, path, { ...options, ...asking(PROBLEM) })
    expect([path, answer.status, answer.headers.get('Content-Type')]).toEqual([path, status, PROBLEM])
    expect(answer.json).toMatchObject({ status, detail: answer.error.message })
  }
})

test('a stored refusal is replayed in the form that each request asks for', async () => {
  const key = { 'Idempotency-Key': 'one' }
  const body = '{"petId": 1, "quantity": 1000}'
  const first = await service.send('POST', '/store/orders', body, { headers: key })
  const replayed = await service.send('POST', '/store/orders', body, { headers: { ...key, Accept: PROBLEM } })
  expect([first.headers.get('Content-Type'), replayed.headers.get('Content-Type')]).toEqual([
    'application/json',
    PROBLEM,
  ])
  expect([replayed.isReplayed, replayed.error.code]).toEqual([true, 'insufficient_stock'])
})
