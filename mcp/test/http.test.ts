import { expect, setDefaultTimeout, test } from 'bun:test'
import { TestService } from '../../server/test/support/test-service.ts'
import { type Adjusted, callTool, connectTo, newKey, refusalOf, startHttp } from './support/connections.ts'

setDefaultTimeout(120_000)

async function startShop() {
  const service = await TestService.start({ realTime: true })
  return { service, url: await startHttp(service) }
}

const SALE = { lines: [{ petId: '1', quantity: 1 }] }

/** A tools/call as a client of 2025 sends it. */
function saleRequest(key: string | undefined, headers: Readonly<Record<string, string>> = {}): RequestInit {
  const params = { name: 'sell', arguments: { ...SALE, idempotencyKey: 'receipt-17-of-till-1' } }
  return {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  }
}

test('every caller needs a key, also to list the tools', async () => {
  const { url } = await startShop()
  const response = await fetch(url, saleRequest(undefined))
  expect(response.status).toBe(401)
  expect(response.headers.get('WWW-Authenticate')).toStartWith('Bearer')
  expect(await response.text()).toContain('Authorization: Bearer')
  await expect(connectTo(url, '2025-11-25', {})).rejects.toThrow()
})

test('each caller acts with their own key and permissions', async () => {
  const { service, url } = await startShop()
  const seller = await service.createKey('pro', { permissions: ['stock'] })
  const clerk = await service.createKey('pro', { permissions: ['orders'] })
  const connectAs = ({ secret }: { readonly secret: string }) =>
    connectTo(url, '2025-11-25', { authProvider: { token: async () => secret } })
  const sold = await callTool<Adjusted & { keyId: string }>(await connectAs(seller), 'sell', {
    ...SALE,
    ...newKey(),
  })
  expect(sold.keyId).toBe(seller.id)
  const refused = await refusalOf(await connectAs(clerk), 'sell', { ...SALE, ...newKey() })
  expect(refused).toMatchObject({ code: 'forbidden', status: 403 })
  const stranger = await refusalOf(await connectAs({ secret: 'wrong' }), 'get_stock', { petId: '1' })
  expect(stranger.code).toBe('unauthorized')
})

test('a page of another site cannot call it, not even through a name that leads to this machine', async () => {
  const { service, url } = await startShop()
  for (const headers of [{ Origin: 'https://evil.example' }, { Host: 'evil.example' }, { Origin: 'null' }]) {
    expect((await fetch(url, saleRequest(service.key, headers))).status).toBe(403)
  }
  expect((await fetch(new URL('/', url), saleRequest(service.key))).status).toBe(404)
  expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(4)
})

test('a call that a client or a proxy sends twice sells once', async () => {
  const { service, url } = await startShop()
  const responses = await Promise.all([1, 2].map(() => fetch(url, saleRequest(service.key))))
  for (const response of responses) expect(await response.text()).toContain('"quantity":3')
  expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(3)
})

test('a call that the client of the SDK sends again after a 401 sells once', async () => {
  const { service, url } = await startShop()
  let token = service.key
  const sent: string[] = []
  const agent = await connectTo(url, '2025-11-25', {
    authProvider: {
      token: async () => token,
      onUnauthorized: async () => {
        token = service.key
      },
    },
    fetch: (target, init) => {
      if (String(init?.body).includes('tools/call')) sent.push(token)
      return fetch(target, init)
    },
  })
  token = ''
  await callTool(agent, 'sell', { ...SALE, ...newKey() })
  expect(sent).toEqual(['', service.key])
  expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(3)
})
