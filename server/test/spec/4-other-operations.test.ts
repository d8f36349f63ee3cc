import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

describe('section 4: GET /pets/{petId}', () => {
  test('returns the record of the pet', async () => {
    const { status, text } = await service.call('GET', '/pets/1')
    expect([status, text]).toEqual([200, '{"id":1,"name":"Biscuit","categoryId":1,"status":"available"}'])
  })

  test('an unknown pet is 404, an invalid petId is 400', async () => {
    expect((await service.call('GET', '/pets/4')).error.code).toBe('not_found')
    expect((await service.call('GET', '/pets/four')).error.code).toBe('invalid_request')
  })

  test('HEAD responds without the body', async () => {
    const { status, text } = await service.call('HEAD', '/pets/1')
    expect([status, text]).toEqual([200, ''])
  })
})

describe('section 4: GET /store/orders', () => {
  test('returns every order, by id', async () => {
    const { status, text } = await service.call('GET', '/store/orders')
    expect(status).toBe(200)
    expect(text).toBe(
      '[{"id":1,"lines":[{"petId":1,"quantity":2,"returned":0}],"state":"complete","complete":true,' +
        '"shipDate":"2026-11-15T12:00:00.000Z","createdAt":"2026-11-15T12:00:00.000Z",' +
        '"closedAt":"2026-11-15T12:00:00.000Z","createdBy":"importer","closedBy":"importer"},' +
        '{"id":9007199254740993,"lines":[{"petId":9223372036854775807,"quantity":1,"returned":0}],"state":"open",' +
        '"complete":false,"shipDate":"2026-11-15T12:00:00.000Z","createdAt":"2026-11-15T12:00:00.000Z",' +
        '"createdBy":"importer"}]',
    )
  })

  test('HEAD responds without the body', async () => {
    const { status, text } = await service.call('HEAD', '/store/orders')
    expect([status, text]).toEqual([200, ''])
  })
})
