import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PetstoreClient } from '@petstore/client'
import { run } from '../../client/test/support/built-client.ts'
import { TestService } from '../../server/test/support/test-service.ts'
import { Contract, type Operation } from '../src/docs-page/contract.ts'
import { REFUSED_ANSWER, REFUSED_BODY } from '../src/docs-page/guides/change-stock-guide.tsx'
import { changeStockSamples, type SampleName } from '../src/docs-page/guides/change-stock-samples.ts'
import { ERROR_EXAMPLE, WHAT_TO_DO } from '../src/docs-page/guides/errors-guide.tsx'
import { compactJson, layOutJson } from '../src/docs-page/samples/json-text.ts'
import {
  fieldId,
  isEventStream,
  type RequestDraft,
  startingDraft,
} from '../src/docs-page/samples/request-draft.ts'
import { KEY_PLACEHOLDER, requestSamples } from '../src/docs-page/samples/request-samples.ts'

let service: TestService
let contract: Contract

beforeAll(async () => {
  service = await TestService.start()
  contract = new Contract((await service.fetch('GET', '/openapi.json')).json as never)
})
afterAll(() => service.stop())

/** What stops an endless stream after its first event. */
const ENOUGH = new Error('enough')

/** Runs a sample as it would run in a module, and gives what it prints. */
async function printed(code: string, isStream: boolean): Promise<unknown[]> {
  const values: unknown[] = []
  const log = (value: unknown) => {
    values.push(value)
    if (isStream && typeof value !== 'number') throw ENOUGH
  }
  const body = code.replace(/^import .*\n/, '')
  const AsyncFunction = (async () => {}).constructor as new (
    ...source: string[]
  ) => (...values: unknown[]) => Promise<void>
  await new AsyncFunction('PetstoreClient', 'console', body)(PetstoreClient, { log }).catch((error) => {
    if (error !== ENOUGH) throw error
  })
  return values
}

function sampleOf(operation: Operation, id: string, draft: RequestDraft): string {
  const samples = requestSamples(contract, operation, draft, `${service.address}/v1`)
  return samples.find((sample) => sample.id === id)?.code.replace(KEY_PLACEHOLDER, service.key) ?? ''
}

/** Every optional value that can be given without knowing an earlier answer. */
function fullDraft(operation: Operation): RequestDraft {
  const draft = startingDraft(contract, operation)
  const values = { ...draft.values }
  for (const parameter of operation.parameters) {
    const { name, schema } = parameter
    if (schema.default !== undefined) values[fieldId(parameter)] = String(schema.default)
    if (schema.enum !== undefined) values[fieldId(parameter)] = String(schema.enum[0])
    if (name === 'If-Match') values[fieldId(parameter)] = '*'
    if (name === 'Idempotency-Key') values[fieldId(parameter)] = crypto.randomUUID()
    if (name === 'If-None-Match') values[fieldId(parameter)] = '"another"'
  }
  return { ...draft, values }
}

/** What the example of an adjustment, and the guide, go on from. */
async function stockTheExample(): Promise<void> {
  await service.setQuantity(1n, '{"quantity":12}')
  await service.setQuantity(2n, '{"quantity":28}')
}

describe('the samples of every operation run as they stand', () => {
  const drafts = [startingDraft.bind(undefined), (_: Contract, operation: Operation) => fullDraft(operation)]

  test('with our client', async () => {
    expect(contract.operations.length).toBeGreaterThanOrEqual(8)
    for (const operation of contract.operations) {
      for (const draft of drafts) {
        await stockTheExample()
        const code = sampleOf(operation, 'client', draft(contract, operation))
        const [answer] = await printed(code, isEventStream(operation))
        expect([operation.id, typeof answer]).toEqual([operation.id, 'object'])
      }
    }
  })

  test('with fetch', async () => {
    for (const operation of contract.operations) {
      for (const draft of drafts) {
        await stockTheExample()
        const code = sampleOf(operation, 'fetch', draft(contract, operation))
        const [status, text] = await printed(code, isEventStream(operation))
        expect([operation.id, status, typeof text]).toEqual([operation.id, 200, 'string'])
      }
    }
  })

  test.skipIf(Bun.which('curl') === null)('with curl', async () => {
    for (const operation of contract.operations.filter((each) => !isEventStream(each))) {
      await stockTheExample()
      const code = sampleOf(operation, 'curl', fullDraft(operation))
      const { stdout } = await run(['sh', '-c', `${code} --silent --write-out '\\n%{http_code}'`])
      expect([operation.id, stdout.split('\n').at(-1)]).toEqual([operation.id, '200'])
    }
  })
})

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
    python: (code: string) => run(['python3', '-c', code]),
  }
  const tools = { curl: 'curl', client: 'bun', python: 'python3' } as const

  for (const id of ['curl', 'client', 'python'] as const) {
    test.skipIf(Bun.which(tools[id]) === null)(`with ${id}`, async () => {
      for (const [name, samples] of Object.entries(changeStockSamples(`${service.address}/v1`))) {
        await stockTheExample()
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
    await stockTheExample()
    const answer = await service.call('POST', '/inventory/adjustments', {
      body: REFUSED_BODY,
      headers: { 'Content-Type': 'application/json' },
    })
    expect(answer.text).toBe(REFUSED_ANSWER)
    expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(12)
  })
})

test('the sample of an adjustment keeps every digit that a reader types', () => {
  const operation = contract.operation('adjustInventory')
  if (operation === undefined) throw new Error('the contract has no adjustInventory')
  const body =
    '{"reason":"lost","changes":[{"petId":9007199254740993,"delta":-1}],"reference":"a: 9007199254740993,"}'
  const code = sampleOf(operation, 'client', { values: { 'header-Idempotency-Key': 'k-1' }, body })
  expect(code).toContain(
    "client.adjustInventory([\n  { petId: 9007199254740993n, delta: -1 },\n], { reason: 'lost', reference: 'a: 9007199254740993,', idempotencyKey: 'k-1' })",
  )
})

test('quotes and backslashes that a reader types stay what they are', async () => {
  const operation = contract.operation('updateInventory')
  if (operation === undefined) throw new Error('the contract has no updateInventory')
  const tag = `"it's\\odd"`
  const draft = startingDraft(contract, operation)
  const odd = { ...draft, values: { ...draft.values, 'header-If-Match': tag } }
  const [status] = await printed(sampleOf(operation, 'fetch', odd), false)
  expect(status).toBe(412)
  await expect(printed(sampleOf(operation, 'client', odd), false)).rejects.toMatchObject({
    code: 'precondition_failed',
  })
  const { stdout } = await run([
    'sh',
    '-c',
    `printf '%s ' ${sampleOf(operation, 'curl', odd).replaceAll('\\\n', '')}`,
  ])
  expect(stdout).toContain(`If-Match: ${tag}`)
})

test('JSON is laid out digit for digit', () => {
  const text = '[{"petId":9223372036854775807,"name":"a, {b}: \\"c\\"","n":1.50e3},{"petId":-1}]'
  const lines = layOutJson(text)?.lines.map((line) => line.map((token) => token.text).join(''))
  expect(lines).toEqual([
    '[',
    '  { "petId": 9223372036854775807, "name": "a, {b}: \\"c\\"", "n": 1.50e3 },',
    '  { "petId": -1 }',
    ']',
  ])
  expect(compactJson(lines?.join('\n') ?? '')).toBe(text)
})

test('of long JSON the beginning is laid out, and what is not JSON is not', () => {
  const long = JSON.stringify(Array.from({ length: 500 }, (_, petId) => ({ petId })))
  const layout = layOutJson(long, 100)
  expect(layout?.isCut).toBe(true)
  expect(layout?.lines[1]?.map(({ text }) => text).join('')).toBe('  { "petId": 0 },')
  for (const text of ['<html>', '', '{"a":1', '[1 2}x']) expect(layOutJson(text)).toBeUndefined()
})

test('the guide on errors shows what the service answers, and knows what to do about every code', async () => {
  expect((await service.setQuantity(1n, '{"quantity":"5"}')).text).toBe(ERROR_EXAMPLE)
  expect(Object.keys(WHAT_TO_DO)).toEqual(contract.errorCodes.map(({ code }) => code))
})
