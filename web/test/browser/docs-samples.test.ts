import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { run } from '../../../client/test/support/built-client.ts'
import { type Answer, TestService } from '../../../server/test/support/test-service.ts'
import { Contract, type Operation } from '../../src/docs-page/contract.ts'
import { compactJson, formatJson } from '../../src/docs-page/samples/json-text.ts'
import {
  fieldId,
  isEventStream,
  type RequestDraft,
  startingDraft,
} from '../../src/docs-page/samples/request-draft.ts'
import { KEY_PLACEHOLDER, requestSamples } from '../../src/docs-page/samples/request-samples.ts'
import { orderOne, post, stockTheExample, testWith } from '../support/guide-samples.ts'
import { printed } from '../support/printed-sample.ts'
import { usePython } from '../support/python-samples.ts'

let service: TestService
let contract: Contract

beforeAll(async () => {
  service = await TestService.start({ settings: { webhookPrivateAddresses: 'on' } })
  contract = new Contract((await service.fetch('GET', '/openapi.json')).json as never)
})
afterAll(() => service.stop())
const inPython = usePython()

function sampleOf(operation: Operation, id: string, draft: RequestDraft, token = service.key): string {
  const samples = requestSamples(contract, operation, draft, `${service.address}/v1`)
  return samples.find((sample) => sample.id === id)?.code.replace(KEY_PLACEHOLDER, token) ?? ''
}

/** The bearer token that the operation needs: a pairing code or the key of the service. */
async function tokenOf({ id }: Operation): Promise<string> {
  if (id !== 'pairKey') return service.key
  const { key } = (await post(service, '/keys', NEW_KEY)).json as { readonly key: { readonly id: string } }
  const answer = await service.call('POST', `/keys/${key.id}/pairing-code`)
  return (answer.json as { readonly code: string }).code
}

const emptyDraft = (operation: Operation) => startingDraft(contract, operation)

/** Sets every optional parameter that does not depend on an earlier response. */
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

/** No receiver listens on this port. */
const UNHEARD_WEBHOOK = '{"url":"http://127.0.0.1:1025/","kinds":["pet.removed"]}'

const NEW_KEY = '{"name":"Anna","plan":"free"}'

/** Creates the order, webhook, key, pet or category that the operation needs, and names its parameter. */
function makingOwn({ id, path }: Operation): readonly [field: string, made: Promise<Answer>] | undefined {
  if (path.includes('{orderId}')) return ['path-orderId', orderOne(service)]
  if (path.includes('{webhookId}')) return ['path-webhookId', post(service, '/webhooks', UNHEARD_WEBHOOK)]
  if (path.includes('{keyId}')) return ['path-keyId', post(service, '/keys', NEW_KEY)]
  if (id === 'removePet') return ['path-petId', post(service, '/pets', '{"name":"Goldie","categoryId":1}')]
  if (id === 'removeCategory') return ['path-categoryId', post(service, '/categories', '{"name":"Fish"}')]
  return undefined
}

async function withOwn(operation: Operation, draft: RequestDraft): Promise<RequestDraft> {
  const making = makingOwn(operation)
  if (making === undefined) return draft
  const [field, made] = making
  const answer = (await made).json as { readonly id: number; readonly key?: { readonly id: string } }
  return { ...draft, values: { ...draft.values, [field]: String(answer.key?.id ?? answer.id) } }
}

function successOf({ answers }: Operation): number {
  return answers.find(({ status }) => status < 300)?.status ?? Number.NaN
}

/** Runs a sample. Returns the status, or with our client the type of the result, and what was sent besides. */
const RUNNERS = {
  client: async (code: string, isStream: boolean) => [typeof (await printed(code, isStream))[0]],
  fetch: printed,
  curl: async (code: string) => {
    const { stdout } = await run(['sh', '-c', `${code} --silent --write-out '\\n%{http_code}'`])
    return [stdout.split('\n').at(-1)]
  },
  python: inPython,
} as const

describe('the samples of every operation run as they stand', () => {
  for (const id of ['client', 'fetch', 'curl', 'python'] as const) {
    testWith(id === 'fetch' ? 'client' : id, `with ${id}`, async () => {
      expect(contract.operations.length).toBeGreaterThanOrEqual(8)
      for (const operation of contract.operations) {
        const isStream = isEventStream(operation)
        if (id === 'curl' && isStream) continue
        for (const draft of id === 'curl' ? [fullDraft] : [emptyDraft, fullDraft]) {
          await stockTheExample(service)
          const own = await withOwn(operation, draft(operation))
          const code = sampleOf(operation, id, own, await tokenOf(operation))
          const [outcome, answer] = await RUNNERS[id](code, isStream)
          const status = successOf(operation)
          const result = status === 204 ? 'undefined' : 'object'
          expect([operation.id, String(outcome)]).toEqual([
            operation.id,
            id === 'client' ? result : String(status),
          ])
          if (id === 'python' && status !== 204) expect(answer).toMatch(isStream ? /^retry: / : /^[{[]/)
        }
      }
    })
  }
})

test('the sample of an adjustment keeps every digit that a reader types', () => {
  const operation = contract.operation('adjustInventory')
  if (operation === undefined) throw new Error('the contract has no adjustInventory')
  const body =
    '{"reason":"lost","changes":[{"petId":9007199254740993,"delta":-1}],"reference":"a: 9007199254740993,"}'
  const code = sampleOf(operation, 'client', { values: { 'header-Idempotency-Key': 'k-1' }, body })
  expect(code).toContain(
    "client.inventory.adjust({ reason: 'lost', reference: 'a: 9007199254740993,', changes: [\n  { petId: 9007199254740993n, delta: -1 },\n] }, { idempotencyKey: 'k-1' })",
  )
  expect(sampleOf(operation, 'python', { values: {}, body })).toContain(
    "\n            {'petId': 9007199254740993, 'delta': -1}\n",
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

testWith('python', 'whatever a reader types stays what it is', async () => {
  const operation = contract.operation('createPet')
  if (operation === undefined) throw new Error('the contract has no createPet')
  const name = 'it\'s "odd" \\ 🐢 / \u2028'
  const body = JSON.stringify({ name, categoryId: 1 }).replaceAll('/', '\\/').replace('🐢', '\\ud83d\\udc22')
  await inPython(sampleOf(operation, 'python', { values: {}, body }))
  expect((await service.call('GET', '/catalog?limit=100')).text).toContain(JSON.stringify(name))
  // What is not JSON is sent as it is, so that the service says what is wrong with it.
  await expect(inPython(sampleOf(operation, 'python', { values: {}, body: '{"name" 1}' }))).rejects.toThrow(
    '400',
  )
})

test('JSON is formatted digit for digit', () => {
  const text = '[{"petId":9223372036854775807,"name":"a, {b}: \\"c\\"","n":1.50e3},{"petId":-1}]'
  const formatted = formatJson(text)
  expect(formatted?.split('\n')).toEqual([
    '[',
    '  { "petId": 9223372036854775807, "name": "a, {b}: \\"c\\"", "n": 1.50e3 },',
    '  { "petId": -1 }',
    ']',
  ])
  expect(compactJson(formatted ?? '')).toBe(text)
})

test('the beginning of long JSON is formatted, but text that is not JSON is not', () => {
  const long = JSON.stringify(Array.from({ length: 500 }, (_, petId) => ({ petId })))
  expect(formatJson(long.slice(0, 100), { isCut: true })?.split('\n')[1]).toBe('  { "petId": 0 },')
  for (const text of ['<html>', '', '{"a":1', '[1 2}x']) expect(formatJson(text)).toBeUndefined()
})
