import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

describe('section 4: GET /inventory', () => {
  test('returns the current stock level of every pet, by petId ascending', async () => {
    const { status, text, headers } = await service.call('GET', '/inventory')
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toBe('application/json')
    expect(text).toBe(
      '[{"petId":1,"quantity":4,"status":"available"},' +
        '{"petId":2,"quantity":1,"status":"pending"},' +
        '{"petId":3,"quantity":0,"status":"sold"},' +
        '{"petId":9007199254740993,"quantity":7,"status":"available"},' +
        '{"petId":9223372036854775807,"quantity":8,"status":"available"}]',
    )
  })

  test('takes no parameters: a query string changes nothing', async () => {
    const plain = await service.call('GET', '/inventory')
    const withQuery = await service.call('GET', '/inventory?limit=1&status=sold')
    expect(withQuery.text).toBe(plain.text)
  })

  test('an empty store returns an empty array', async () => {
    const empty = await TestService.start({ pets: [] })
    const { status, text } = await empty.call('GET', '/inventory')
    expect([status, text]).toEqual([200, '[]'])
  })

  test('HEAD responds like GET, without the body', async () => {
    const get = await service.call('GET', '/inventory')
    const head = await service.call('HEAD', '/inventory')
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    expect(head.headers.get('ETag')).toBe(get.headers.get('ETag'))
    expect(head.headers.get('Content-Length')).toBe(String(get.text.length))
  })

  test('the ETag depends on the content: 304 while it matches, 200 after a change', async () => {
    const first = await service.call('GET', '/inventory')
    const tag = first.headers.get('ETag') ?? ''
    for (const ifNoneMatch of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await service.call('GET', '/inventory', { headers: { 'If-None-Match': ifNoneMatch } })
      expect([again.status, again.text]).toEqual([304, ''])
      expect(again.headers.get('ETag')).toBe(tag)
    }
    await service.setQuantity(1n, '{"quantity": 77}')
    const changed = await service.call('GET', '/inventory', { headers: { 'If-None-Match': tag } })
    expect(changed.status).toBe(200)
    await service.setQuantity(1n, '{"quantity": 4}')
    const back = await service.call('GET', '/inventory')
    expect(back.headers.get('ETag')).toBe(tag)
  })
})
