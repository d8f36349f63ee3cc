import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PetstoreClient } from '@petstore/client'
import { run } from '../../client/test/support/built-client.ts'
import { TestService } from '../../server/test/support/test-service.ts'
import { Contract, type Operation } from '../src/docs-page/contract.ts'
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
    if (name === 'If-None-Match') values[fieldId(parameter)] = '"another"'
  }
  return { ...draft, values }
}

describe('the samples of every operation run as they stand', () => {
  const drafts = [startingDraft.bind(undefined), (_: Contract, operation: Operation) => fullDraft(operation)]

  test('with our client', async () => {
    expect(contract.operations.length).toBeGreaterThanOrEqual(8)
    for (const operation of contract.operations) {
      for (const draft of drafts) {
        const code = sampleOf(operation, 'client', draft(contract, operation))
        const [answer] = await printed(code, isEventStream(operation))
        expect([operation.id, typeof answer]).toEqual([operation.id, 'object'])
      }
    }
  })

  test('with fetch', async () => {
    for (const operation of contract.operations) {
      for (const draft of drafts) {
        const code = sampleOf(operation, 'fetch', draft(contract, operation))
        const [status, text] = await printed(code, isEventStream(operation))
        expect([operation.id, status, typeof text]).toEqual([operation.id, 200, 'string'])
      }
    }
  })

  test.skipIf(Bun.which('curl') === null)('with curl', async () => {
    for (const operation of contract.operations.filter((each) => !isEventStream(each))) {
      const code = sampleOf(operation, 'curl', fullDraft(operation))
      const { stdout } = await run(['sh', '-c', `${code} --silent --write-out '\\n%{http_code}'`])
      expect([operation.id, stdout.split('\n').at(-1)]).toEqual([operation.id, '200'])
    }
  })
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
