import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { TestService } from '../../server/test/support/test-service.ts'
import { type Address, MAIN, startHttp } from './support/connections.ts'
import { type Inspector, installInspector } from './support/inspector.ts'

setDefaultTimeout(300_000)

let inspector: Inspector | undefined
beforeAll(async () => {
  inspector = await installInspector()
  if (inspector !== undefined) return
  if ((Bun.env.CI ?? '') !== '') throw new Error('CI must run the inspector, and npm could not install it')
  console.warn('SKIPPED: npm could not install the inspector')
})

/** The words that tell the inspector where the server is. */
type Target = (service: Address) => readonly string[] | Promise<readonly string[]>

const TARGETS: readonly (readonly [string, Target])[] = [
  [
    'standard input and output',
    ({ address, key }) => {
      const variables = [`PETSTORE_URL=${address}/v1`, `PETSTORE_KEY=${key}`]
      return [...variables.flatMap((variable) => ['-e', variable]), process.execPath, MAIN]
    },
  ],
  [
    'streamable HTTP',
    async (service) => {
      const url = await startHttp(service)
      return ['--transport', 'http', '--server-url', url, '--header', `Authorization: Bearer ${service.key}`]
    },
  ],
]

describe.each(TARGETS)('the inspector over %s', (_, targetOf) => {
  test('receives a delivery, cannot oversell, and takes a sale back', async () => {
    if (inspector === undefined) return
    const run = inspector
    const service = await TestService.start({ realTime: true })
    const target = await targetOf(service)
    const call = async (tool: string, args: object, expectedExit = 0) => {
      const pairs = Object.entries(args).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
      const words = ['--method', 'tools/call', '--tool-name', tool]
      const { exitCode, stdout, stderr } = await run([
        ...target,
        ...words,
        ...pairs.flatMap((pair) => ['--tool-arg', pair]),
      ])
      expect([exitCode, expectedExit === 0 ? stderr : '']).toEqual([expectedExit, ''])
      return JSON.parse(stdout)
    }

    const lines = (quantity: number) => [{ petId: '9007199254740993', quantity }]
    const delivery = { lines: lines(5), reference: 'PO-1043', idempotencyKey: 'delivery-1' }
    expect((await call('receive', delivery)).structuredContent).toMatchObject({
      reference: expect.stringMatching(/^PO-1043 \(.*inspector.*\)$/),
      items: [{ petId: '9007199254740993', quantity: 12 }],
    })
    const refused = await call('sell', { lines: lines(13), idempotencyKey: 'sale-1' }, 5)
    expect(JSON.parse(refused.content[0].text)).toMatchObject({
      code: 'insufficient_stock',
      details: [{ available: 12 }],
    })
    const sold = await call('sell', { lines: lines(12), idempotencyKey: 'sale-2' })
    const goods = { adjustmentId: sold.structuredContent.id, lines: lines(2), idempotencyKey: 'return-1' }
    expect((await call('return', goods)).structuredContent.items).toMatchObject([{ quantity: 2 }])
    const { stdout } = await run([...target, '--method', 'resources/read', '--uri', 'petstore://pets/1'])
    expect(JSON.parse(JSON.parse(stdout).contents[0].text)).toMatchObject({ name: 'Biscuit' })
  })
})
