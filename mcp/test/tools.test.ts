import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Client } from '@modelcontextprotocol/client'
import { MAX_LENGTHS } from '@petstore/client'
import { TestService } from '../../server/test/support/test-service.ts'
import { cleanName } from '../src/server.ts'
import {
  type Adjusted,
  AGENT,
  callTool,
  connectStdio,
  newKey,
  refusalOf,
  textOf,
  tryTool,
} from './support/connections.ts'

setDefaultTimeout(120_000)

/** They do not fit a number of JavaScript. */
const ODD = '9007199254740993'
const LAST = '9223372036854775807'

interface Stock {
  readonly petId: string
  readonly quantity: number
  readonly reserved: number
  readonly available: number
}

interface Page<Item> {
  readonly items: readonly Item[]
  readonly next?: string
}

async function startShop(options: Parameters<typeof TestService.start>[0] = {}) {
  const service = await TestService.start({ realTime: true, ...options })
  return { service, agent: await connectStdio(service, '2025-11-25') }
}

async function availableOf(agent: Client, petId: string): Promise<number> {
  return (await callTool<Stock>(agent, 'get_stock', { petId })).available
}

test('every tool has a description, schemas without references, and hints', async () => {
  const { agent } = await startShop()
  const { tools } = await agent.listTools()
  expect(tools.map(({ name, annotations = {} }) => [name, annotations])).toEqual(
    Object.entries({
      find_pets: 'reads',
      get_stock: 'reads',
      list_low_stock: 'reads',
      list_adjustments: 'reads',
      report_movements: 'reads',
      receive: 'adds',
      sell: 'takes',
      count: 'takes',
      reserve: 'adds',
      return: 'takes',
    }).map(([name, effect]) => [
      name,
      {
        readOnlyHint: effect === 'reads',
        destructiveHint: effect === 'takes',
        idempotentHint: true,
        openWorldHint: false,
      },
    ]),
  )
  for (const { name, description, annotations, inputSchema, outputSchema } of tools) {
    expect([name, description]).toEqual([name, expect.stringMatching(/^[A-Z].*\.$/)])
    expect(outputSchema?.type).toBe('object')
    expect(JSON.stringify([inputSchema, outputSchema])).not.toContain('$ref')
    expect([name, inputSchema.required?.includes('idempotencyKey') ?? false]).toEqual([
      name,
      annotations?.readOnlyHint === false,
    ])
  }
})

test('limits are those of the contract, less the name of the agent', async () => {
  const { agent } = await startShop()
  const { tools } = await agent.listTools()
  const sell = tools.find(({ name }) => name === 'sell')?.inputSchema.properties
  const { reference, changes, note } = MAX_LENGTHS.InventoryAdjustment
  expect(sell?.lines).toMatchObject({ minItems: 1, maxItems: changes })
  expect(sell?.note).toMatchObject({ maxLength: note })
  expect(sell?.reference).toMatchObject({ maxLength: reference - 43 })
  const tooLong = { reference: 'x'.repeat(reference - 42), lines: [{ petId: '1', quantity: 1 }], ...newKey() }
  const refused = await tryTool(agent, 'sell', tooLong)
  expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining('reference')])
})

test('the name of an agent is one line of at most 40 characters, as a reference must be', () => {
  expect(cleanName(' shop\nassistant\u202e\ud800 ')).toBe('shop assistant')
  expect(cleanName('🐈'.repeat(50))).toBe('🐈'.repeat(40))
  expect(cleanName('\u0000')).toBe('an MCP client')
})

test('an argument that the tool does not have is refused', async () => {
  const { agent } = await startShop()
  for (const [name, args] of [
    ['get_stock', { petId: '1', pet: 'Biscuit' }],
    ['get_stock', { petId: 1 }],
    ['sell', { lines: [{ petId: '1', quantity: 1, delta: 5 }], ...newKey() }],
    ['sell', { lines: [{ petId: '1', quantity: 0 }], ...newKey() }],
    ['sell', { lines: [{ petId: '1', quantity: 1 }] }],
  ] as const) {
    const result = await tryTool(agent, name, args)
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining('Invalid arguments')])
  }
  expect(await availableOf(agent, '1')).toBe(4)
})

describe('an agent that repeats a sale with the same idempotencyKey', () => {
  test('sells once, and learns that it had sold before', async () => {
    const { agent } = await startShop()
    const sale = { lines: [{ petId: ODD, quantity: 2 }], ...newKey() }
    const first = await callTool<Adjusted>(agent, 'sell', sale)
    const second = await callTool<Adjusted>(agent, 'sell', sale)
    expect(second).toEqual({ ...first, replayed: true })
    expect(await availableOf(agent, ODD)).toBe(5)
  })

  test('sells once if both calls are made at once', async () => {
    const { agent } = await startShop()
    const sale = { lines: [{ petId: ODD, quantity: 2 }], ...newKey() }
    await Promise.all([callTool(agent, 'sell', sale), callTool(agent, 'sell', sale)])
    expect(await availableOf(agent, ODD)).toBe(5)
  })

  test('is asked for another key if the sale differs', async () => {
    const { agent } = await startShop()
    const key = newKey()
    await callTool(agent, 'sell', { lines: [{ petId: ODD, quantity: 2 }], ...key })
    const refused = await refusalOf(agent, 'sell', { lines: [{ petId: ODD, quantity: 3 }], ...key })
    expect(refused).toMatchObject({ code: 'idempotency_key_reused', status: 422 })
    expect(refused.next).toContain('Choose a new one')
  })

  test('gets the same refusal, and a new key for a new attempt is what the refusal asks for', async () => {
    const { agent } = await startShop()
    const sale = { lines: [{ petId: '3', quantity: 1 }] }
    const key = newKey()
    expect((await refusalOf(agent, 'sell', { ...sale, ...key })).next).toContain('new idempotencyKey')
    await callTool(agent, 'receive', { ...sale, ...newKey() })
    expect((await refusalOf(agent, 'sell', { ...sale, ...key })).code).toBe('insufficient_stock')
    await callTool(agent, 'sell', { ...sale, ...newKey() })
  })
})

test('if the answer of the service is lost, the agent is asked to repeat the call, which sells once', async () => {
  const service = await TestService.start({ realTime: true })
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const response = await fetch(new Request(service.address + pathname + search, request))
      return request.method === 'POST' && isLosing ? new Response('lost', { status: 500 }) : response
    },
  })
  let isLosing = true
  const agent = await connectStdio({ address: proxy.url.origin, key: service.key }, '2025-11-25')
  const sale = { lines: [{ petId: ODD, quantity: 2 }], ...newKey() }
  const { next } = await refusalOf(agent, 'sell', sale)
  expect(next).toContain('same idempotencyKey')
  isLosing = false
  expect(await callTool<Adjusted>(agent, 'sell', sale)).toMatchObject({
    replayed: true,
    items: [{ petId: ODD, quantity: 5 }],
  })
  await proxy.stop(true)
})

test('reserved units cannot be sold, and a reservation is an order with lines', async () => {
  const { agent } = await startShop()
  const order = await callTool<{ readonly id: string }>(agent, 'reserve', {
    lines: [
      { petId: ODD, quantity: 6 },
      { petId: '1', quantity: 1 },
    ],
    customer: 'Anna Smith',
    reference: 'cart 8841',
    holdSeconds: 900,
    metadata: { petId: '17' },
    ...newKey(),
  })
  expect(order).toMatchObject({
    state: 'open',
    reference: `cart 8841 (${AGENT})`,
    metadata: { petId: '17' },
    lines: [
      { petId: '1', quantity: 1 },
      { petId: ODD, quantity: 6 },
    ],
  })
  const sale = { lines: [{ petId: ODD, quantity: 2 }], ...newKey() }
  expect(await refusalOf(agent, 'sell', sale)).toMatchObject({ details: [{ petId: ODD, available: 1 }] })
  const { contents } = await agent.readResource({ uri: `petstore://orders/${order.id}` })
  expect(contents).toMatchObject([{ mimeType: 'application/json' }])
  expect(JSON.parse(String((contents[0] as { text?: string }).text))).toMatchObject({ id: order.id })
})

test('a count sets quantities, by barcode too, and fails if the stock is not as expected', async () => {
  const { service, agent } = await startShop()
  await service.send('PATCH', '/pets/1', { barcode: '4006381333931' })
  const counted = await callTool<Adjusted>(agent, 'count', {
    lines: [
      { barcode: '4006381333931', quantity: 9, expected: 4 },
      { petId: LAST, quantity: 3 },
    ],
    note: 'shelf 3',
    ...newKey(),
  })
  expect(counted).toMatchObject({
    reason: 'counted',
    reference: AGENT,
    note: 'shelf 3',
    items: [
      { petId: '1', quantity: 9 },
      { petId: LAST, quantity: 3 },
    ],
  })
  const stale = { lines: [{ petId: '1', quantity: 8, expected: 4 }], ...newKey() }
  const refused = await refusalOf(agent, 'count', stale)
  expect(refused).toMatchObject({ code: 'precondition_failed', status: 412 })
  expect(refused.next).toContain('get_stock')
})

test('a mistake is corrected: a delivery that never came is taken back', async () => {
  const { agent } = await startShop()
  const { id } = await callTool<Adjusted>(agent, 'receive', {
    lines: [{ petId: '3', quantity: 5 }],
    ...newKey(),
  })
  const correction = { adjustmentId: id, reason: 'correction', ...newKey() }
  expect(await callTool<Adjusted>(agent, 'return', correction)).toMatchObject({
    reason: 'correction',
    reverses: id,
    note: AGENT,
    items: [{ petId: '3', quantity: 0 }],
  })
})

test('pets are found, low stock is listed, and adjustments are listed in pages', async () => {
  const { service, agent } = await startShop()
  await service.send('PATCH', `/pets/${ODD}`, { lowStockAt: 7 })
  const found = await callTool<Page<Stock>>(agent, 'find_pets', { q: 'one', sort: '-petId' })
  expect(found.items.map(({ petId }) => petId)).toEqual([LAST, ODD])
  const low = await callTool<Page<Stock>>(agent, 'list_low_stock', {})
  expect(low.items).toMatchObject([{ petId: ODD, available: 7, lowStockAt: 7 }])

  for (const quantity of [1, 2]) {
    await callTool(agent, 'receive', { lines: [{ petId: ODD, quantity }], ...newKey() })
  }
  const list = (args: object) => callTool<Page<Adjusted>>(agent, 'list_adjustments', { limit: 1, ...args })
  const latest = await list({ petId: ODD, reference: AGENT })
  expect(latest.items).toMatchObject([{ reason: 'received', lines: [{ petId: ODD, delta: 2 }] }])
  const earlier = await list({ petId: ODD, reference: AGENT, cursor: latest.next })
  expect(earlier.items).toMatchObject([{ lines: [{ petId: ODD, delta: 1 }] }])

  const report = await callTool<object>(agent, 'report_movements', { by: 'pet' })
  expect(report).toMatchObject({
    rows: expect.arrayContaining([expect.objectContaining({ petId: ODD, received: 3 })]),
  })
})

test('the resources are a pet with its stock, an order, and the contract', async () => {
  const { agent } = await startShop()
  const { resourceTemplates } = await agent.listResourceTemplates()
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'petstore://pets/{id}',
    'petstore://orders/{id}',
  ])
  const read = async (uri: string): Promise<unknown> => {
    const { contents } = await agent.readResource({ uri })
    return JSON.parse(String((contents[0] as { text?: string }).text))
  }
  expect(await read(`petstore://pets/${ODD}`)).toMatchObject({
    id: ODD,
    name: 'Odd one',
    stock: { petId: ODD, quantity: 7, reserved: 0, available: 7 },
  })
  const contract = await Bun.file(new URL('../../openapi.json', import.meta.url)).json()
  expect(await read('petstore://contract')).toEqual(contract)
  for (const uri of ['petstore://pets/17', 'petstore://orders/17', 'petstore://pets/Biscuit']) {
    await expect(agent.readResource({ uri })).rejects.toThrow(/not found/i)
  }
})

test('errors of the key and of the connection say whom to ask', async () => {
  const service = await TestService.start({ realTime: true })
  const stranger = await connectStdio({ address: service.address, key: 'wrong' }, '2025-11-25')
  const unknown = await refusalOf(stranger, 'get_stock', { petId: '1' })
  expect(unknown).toMatchObject({ code: 'unauthorized', status: 401 })
  expect(unknown.next).toContain('PETSTORE_KEY')

  const { secret } = await service.createKey('pro', { permissions: ['orders'] })
  const clerk = await connectStdio({ address: service.address, key: secret }, '2025-11-25')
  const sale = { lines: [{ petId: '1', quantity: 1 }], ...newKey() }
  expect((await refusalOf(clerk, 'sell', sale)).next).toContain('an owner of the shop grants it')
})
