import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

function send(method: string, path: string, body?: string) {
  const headers = { 'Content-Type': 'application/json' }
  return service.call(method, path, body === undefined ? {} : { body, headers })
}

describe('operations beyond the specification reject names that they do not know', () => {
  test.each([
    ['POST', '/store/orders', '{"petId": 1, "quantity": 1, "holdSecond": 900}', 'holdSecond', 'holdSeconds'],
    ['POST', '/pets', '{"name": "Rex", "categoryID": 1}', 'categoryID', 'categoryId'],
    ['PATCH', '/pets/1', '{"low_stock_at": 3}', 'low_stock_at', 'lowStockAt'],
    ['POST', '/categories', '{"naem": "Dogs"}', 'naem', 'name'],
    ['PATCH', '/categories/1', '{"names": "Dogs"}', 'names', 'name'],
    ['POST', '/webhooks', '{"url": "http://127.0.0.1:1/", "kind": []}', 'kind', 'kinds'],
    ['PATCH', '/webhooks/1', '{"pause": true}', 'pause', 'paused'],
    ['PATCH', '/store/orders/1', '{"completed": true}', 'completed', 'complete'],
    ['POST', '/inventory/adjustments', '{"reason": "lost", "change": []}', 'change', 'changes'],
    ['GET', '/inventory/events?last_event_id=1', undefined, 'last_event_id', 'lastEventId'],
    ['GET', '/inventory/search?Query=x&sorted=name', undefined, 'Query', undefined],
    ['GET', '/catalog?limits=5', undefined, 'limits', 'limit'],
    ['DELETE', '/pets/77?force=true', undefined, 'force', undefined],
  ])('%s %s %s', async (method, path, body, field, suggestion) => {
    const answer = await send(method, path, body)
    expect([answer.status, answer.error.code, answer.error.field]).toEqual([400, 'invalid_request', field])
    expect(answer.error.message).toContain(`unknown ${body === undefined ? 'query parameter' : 'field'}`)
    if (suggestion !== undefined) expect(answer.error.message).toContain(`did you mean ${suggestion}?`)
  })

  test('a name without a similar one gets the list of known names', async () => {
    const answer = await send('POST', '/categories', '{"name": "Dogs", "colour": "red"}')
    expect(answer.error.message).toBe('unknown field "colour" (known: name, lowStockAt, id)')
    const { error } = await send('GET', '/limits?verbose=1')
    expect(error.message).toBe('unknown query parameter "verbose" (this operation has none)')
  })

  test('an unknown field in a change names its place', async () => {
    const body = '{"reason": "lost", "changes": [{"petId": 1, "delta": -1}, {"petId": 2, "dleta": -1}]}'
    const { error } = await send('POST', '/inventory/adjustments', body)
    expect(error).toMatchObject({
      field: 'changes[1].dleta',
      details: [{ index: 1, petId: 2, code: 'invalid_request', field: 'dleta' }],
    })
    expect(error.message).toContain('did you mean delta?')
  })

  test('a key that is sent as a field name of a batch is hidden in the details', async () => {
    const { error } = await send('POST', '/store/orders/batch', `{"orders": [{"${service.key}": 1}]}`)
    expect(error).toMatchObject({ details: [{ index: 0, field: expect.stringContaining('[hidden]') }] })
  })

  test('a hostile name is bounded, and a key in it is hidden', async () => {
    const long = 'x'.repeat(30_000)
    const { error } = await send('POST', '/categories', `{"${long}": 1}`)
    expect(error.message.length).toBeLessThan(200)
    expect(error.field?.length).toBeLessThan(50)
  })
})

describe('operations of the specification ignore them', () => {
  test.each([
    ['GET', '/inventory?limit=1', undefined],
    ['PATCH', '/inventory/1', '{"quantity": 5, "status": "sold"}'],
    ['GET', '/pets/1?x=1', undefined],
    ['GET', '/store/orders?stat=open', undefined],
  ])('%s %s', async (method, path, body) => {
    expect((await send(method, path, body)).status).toBe(200)
  })
})

describe('an error about one field names it', () => {
  test.each([
    ['PATCH', '/inventory/1', '{"quantity": "5"}', 'quantity'],
    ['PATCH', '/inventory/x', '{"quantity": 5}', 'petId'],
    ['POST', '/pets', '{"name": "Rex", "categoryId": 404}', 'categoryId'],
    ['POST', '/webhooks', '{"url": "nowhere", "kinds": ["stock.low"]}', 'url'],
    ['POST', '/webhooks', '{"url": "http://127.0.0.1:1/", "kinds": ["stock.lo"]}', 'kinds'],
    ['GET', '/catalog?cursor=x', undefined, 'cursor'],
    ['GET', '/catalog?limit=0', undefined, 'limit'],
    ['GET', '/inventory/history?since=2026-01-01', undefined, 'since'],
  ])('%s %s %s', async (method, path, body, field) => {
    const { error } = await send(method, path, body)
    expect([error.status, error.field]).toEqual([400, field])
  })

  test('an error about several fields names none', async () => {
    const { error } = await send('PATCH', '/store/orders/1', '{}')
    expect(error.field).toBeUndefined()
  })
})

describe('messages say what is expected', () => {
  test('a date without a time', async () => {
    const { error } = await send('GET', '/inventory/history?since=2026-01-01')
    expect(error.message).toBe(
      'the query parameter since must be a date and time with its zone such as 2026-09-01T10:00:00Z, got "2026-01-01"',
    )
  })

  test('a path that ends before the id', async () => {
    const { error } = await send('GET', '/inventory/')
    expect(error.message).toStartWith('petId is missing in the path; it must be an integer')
  })
})
