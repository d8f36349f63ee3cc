import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import contract from '../../../openapi.json'
import { TestService } from '../support/test-service.ts'

const SUNSET = Date.UTC(2030, 11, 5)

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

describe('section 9: versioning', () => {
  test('the API version is 1.0.0', () => {
    expect(contract.info.version).toBe('1.0.0')
  })

  test('the version segment /v1 is part of both base addresses and of the path', async () => {
    for (const { url } of contract.servers) expect(url).toEndWith('/v1')
    expect(contract.servers.map(({ description }) => description)).toEqual(['Production', 'Staging'])
    expect((await service.fetch('GET', '/v1/inventory')).status).toBe(200)
    expect((await service.fetch('GET', '/inventory')).status).toBe(404)
  })

  test('the base addresses and the sunset date are settings, and the served contract shows them', async () => {
    const settings = {
      baseUrl: 'https://shop.test/v1',
      stagingBaseUrl: 'https://staging.shop.test/v1',
      petSunset: '2031-01-31',
    }
    const other = await TestService.start({ settings })
    const { status, json } = await other.fetch('GET', '/openapi.json', { key: null })
    expect(status).toBe(200)
    const served = json as typeof contract
    expect(served.servers.map(({ url }) => url)).toEqual([settings.baseUrl, settings.stagingBaseUrl])
    expect(served.paths['/pets/{petId}'].get['x-sunset']).toBe('2031-01-31')
  })

  test('a service that names only its staging address shows it, and its keys begin with pst_test_', async () => {
    const url = 'https://staging.shop.test/v1'
    const other = await TestService.start({ settings: { stagingBaseUrl: url } })
    const { json } = await other.fetch('GET', '/openapi.json', { key: null })
    expect((json as typeof contract).servers).toEqual([{ url, description: 'Staging' }])
    const created = await other.send('POST', '/keys', { name: 'Trial', plan: 'free' })
    expect(created.text).toContain('"pst_test_')
  })

  test('without a setting the contract shows the listening address, whatever Host a caller sends', async () => {
    const other = await TestService.start({ settings: { host: '0.0.0.0' } })
    const headers = { Host: 'evil.test' }
    const { json } = await other.fetch('GET', '/openapi.json', { key: null, headers })
    expect((json as typeof contract).servers).toEqual([
      { url: `http://127.0.0.1:${other.port}/v1`, description: 'Production' },
    ])
  })

  test('the served contract is the checked-in one, with the listening address', async () => {
    const { json } = await service.fetch('GET', '/openapi.json', { key: null })
    const own = { url: `http://127.0.0.1:${service.port}/v1`, description: 'Production' }
    expect(json).toEqual({ ...contract, servers: [own] })
    const post = await service.fetch('POST', '/openapi.json', { key: null })
    expect([post.status, post.error.code]).toEqual([405, 'method_not_allowed'])
  })

  test('the update is experimental, operations that 1.1.0 did not have in this form are beta, and all others are stable', () => {
    const marked = Map.groupBy(
      Object.values(contract.paths).flatMap((path) => Object.values(path)),
      (operation) => operation['x-stability'],
    )
    const idsOf = (stability: string) => marked.get(stability)?.map(({ operationId }) => operationId)
    expect(idsOf('experimental')).toEqual(['updateInventory'])
    expect(idsOf('beta')?.sort()).toEqual([
      'cancelOrder',
      'createOrder',
      'getAdjustment',
      'getMovementReport',
      'getOrder',
      'importFile',
      'listAdjustments',
      'listAvailability',
      'listEvents',
      'listKeyAudit',
      'listKeyNames',
      'listPetEdits',
      'replayWebhook',
      'reverseAdjustment',
      'takeOverWebhook',
      'updateOrder',
    ])
    expect([...marked.keys()].sort()).toEqual(['beta', 'experimental', 'stable'])
  })

  test('GET /pets/{petId} is deprecated with a sunset date, in the contract and in every response', async () => {
    expect(contract.paths['/pets/{petId}'].get).toMatchObject({ deprecated: true, 'x-sunset': '2030-12-05' })
    for (const petId of ['1', '404', 'abc']) {
      const { headers } = await service.call('GET', `/pets/${petId}`)
      expect(headers.get('Deprecation')).toMatch(/^@\d{10}$/)
      expect(headers.get('Sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT')
      expect(headers.get('Link')).toContain('rel="deprecation"')
      expect(headers.get('Link')).toContain(`</v1/catalog/${petId}>; rel="successor-version"`)
    }
    expect((await service.call('GET', '/inventory')).headers.has('Sunset')).toBe(false)
  })

  test('GET /pets/{petId} returns the pet until the sunset, then 410', async () => {
    service.now = SUNSET - 1
    const last = await service.call('GET', '/pets/2')
    expect([last.status, last.text]).toEqual([
      200,
      '{"id":2,"name":"Mittens","categoryId":2,"status":"pending"}',
    ])
    service.now = SUNSET
    const gone = await service.call('GET', '/pets/2')
    expect([gone.status, gone.error.code]).toEqual([410, 'gone'])
    expect(gone.headers.get('Sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT')
  })
})
