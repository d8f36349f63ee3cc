import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { run } from '../../../client/test/support/built-client.ts'
import { TestService } from '../../../server/test/support/test-service.ts'
import { Contract } from '../../src/docs-page/contract.ts'
import { REFUSED_ANSWER, REFUSED_BODY } from '../../src/docs-page/guides/change-stock-guide.tsx'
import { changeStockSamples, type SampleName } from '../../src/docs-page/guides/change-stock-samples.ts'
import { ERROR_EXAMPLE, WHAT_TO_DO } from '../../src/docs-page/guides/errors-guide.tsx'
import { copySamples } from '../../src/docs-page/guides/events-samples.ts'
import { EXACT } from '../../src/docs-page/guides/ids-guide.tsx'
import { NONE_LEFT } from '../../src/docs-page/guides/never-oversell-guide.tsx'
import {
  neverOversellSamples,
  type OrderSampleName,
} from '../../src/docs-page/guides/never-oversell-samples.ts'
import { KEY_PLACEHOLDER } from '../../src/docs-page/samples/request-samples.ts'
import { LANGUAGES, orderOne, post, stockTheExample, testWith } from '../support/guide-samples.ts'
import { printed } from '../support/printed-sample.ts'
import { usePython } from '../support/python-samples.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())
const inPython = usePython()

describe('the samples of the guide on changing stock run as they stand', () => {
  /** What pets 1 and 2 have afterwards, of 12 and 28. */
  const AFTERWARDS: Readonly<Record<SampleName, readonly [number, number]>> = {
    set: [30, 28],
    setIfUnchanged: [10, 28],
    adjust: [10, 28],
    adjustMany: [24, 30],
    repeat: [24, 28],
  }
  const runners = {
    curl: (code: string) => run(['sh', '-c', `${code} --silent --fail`]),
    client: (code: string) => printed(code, false),
    python: (code: string) => inPython(code),
  }

  for (const id of LANGUAGES) {
    testWith(id, async () => {
      for (const [name, samples] of Object.entries(changeStockSamples(`${service.address}/v1`))) {
        await stockTheExample(service)
        const { secret } = await service.createKey('enterprise')
        const code = samples.find((sample) => sample.id === id)?.code.replaceAll(KEY_PLACEHOLDER, secret)
        if (code === undefined) throw new Error(`${name} has no sample with ${id}`)
        await runners[id](code)
        // Repeated, it is answered as before, and changes nothing.
        if (name === 'repeat') await runners[id](code)
        const { items } = await service.call('GET', '/inventory')
        const quantities = items.slice(0, 2).map(({ quantity }) => quantity)
        expect([name, ...quantities]).toEqual([name, ...AFTERWARDS[name as SampleName]])
      }
    })
  }

  test('and what it shows of a refusal is what the service answers', async () => {
    await stockTheExample(service)
    const answer = await post(service, '/inventory/adjustments', REFUSED_BODY)
    expect(answer.text).toBe(REFUSED_ANSWER)
    expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(12)
  })
})

describe('the samples of the guide on orders run as they stand', () => {
  /** What is on the shelf and reserved of pet 1 afterwards, of 12. */
  const AFTERWARDS: Readonly<Record<OrderSampleName, readonly [number, number]>> = {
    hold: [12, 1],
    complete: [11, 0],
    cancel: [12, 0],
    conflict: [12, 0],
    repeat: [12, 1],
  }
  const PRINTED: Readonly<Partial<Record<OrderSampleName, string>>> = { conflict: 'only 12 are left' }

  for (const id of LANGUAGES) {
    testWith(id, async () => {
      for (const [name, samples] of Object.entries(neverOversellSamples(`${service.address}/v1`))) {
        await stockTheExample(service)
        const { secret } = await service.createKey('enterprise')
        const code = samples.find((sample) => sample.id === id)?.code.replaceAll(KEY_PLACEHOLDER, secret)
        if (code === undefined) throw new Error(`${name} has no sample with ${id}`)
        const runs = name === 'repeat' ? 2 : 1
        for (let count = 0; count < runs; count++) {
          if (id === 'curl') await run(['sh', '-c', `${code} --silent`])
          else {
            const said = PRINTED[name as OrderSampleName]
            const told = await (id === 'client' ? printed(code, false) : inPython(code))
            if (said !== undefined) expect(told).toEqual([said])
          }
        }
        const { quantity, reserved } = (await service.call('GET', '/inventory/1/availability')).json as {
          readonly quantity: number
          readonly reserved: number
        }
        expect([name, quantity, reserved]).toEqual([name, ...AFTERWARDS[name as OrderSampleName]])
      }
    })
  }

  test('and what it shows of a refusal is what the service answers', async () => {
    await stockTheExample(service)
    await service.setQuantity(1n, '{"quantity":1}')
    expect((await orderOne(service)).status).toBe(201)
    expect((await orderOne(service)).text).toBe(NONE_LEFT)
  })
})

describe('the samples of keeping a copy run as they stand', () => {
  for (const id of ['client', 'python'] as const) {
    testWith(id, async () => {
      const sample = copySamples(`${service.address}/v1`).find((each) => each.id === id)
      const code = sample?.code.replaceAll(KEY_PLACEHOLDER, service.key) ?? ''
      const { items } = await service.call('GET', '/inventory')
      const told = await (id === 'client' ? printed(code, true) : inPython(code, true))
      expect(told).toEqual([`ready: ${items.length} pets`])
    })
  }
})

testWith(
  'python',
  async () => {
    expect(await inPython(EXACT.find(({ id }) => id === 'python')?.code ?? '')).toEqual(['9007199254740993'])
  },
  'the sample of an exact id keeps every digit in Python',
)

test('the guide on errors shows what the service answers, and knows what to do about every code', async () => {
  const contract = new Contract((await service.fetch('GET', '/openapi.json')).json as never)
  expect((await service.setQuantity(1n, '{"quantity":"5"}')).text).toBe(ERROR_EXAMPLE)
  expect(Object.keys(WHAT_TO_DO)).toEqual(contract.errorCodes.map(({ code }) => code))
})
