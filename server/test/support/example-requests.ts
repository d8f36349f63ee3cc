import { isRequiredParameter, type Operation } from '../../src/http/operation.ts'
import { toJson } from '../../src/http/reply.ts'
import { OPERATIONS } from '../../src/http/routes.ts'
import { addWebhook } from './add-webhook.ts'
import { TestService } from './test-service.ts'

/** An address without a listener. */
export const NOWHERE = 'http://127.0.0.1:1111/'

/** The ids of records in `startExampleShop`: one that stays, and one that can be removed. */
const IDS: Readonly<Record<string, readonly [kept: string, removable: string]>> = {
  petId: ['1', '77'],
  categoryId: ['1', '77'],
  orderId: ['1', '9007199254740993'],
  webhookId: ['1', '77'],
  keyId: ['key_1', 'key_77'],
  adjustmentId: ['1000000', '1000000'],
}

export interface ExampleRequest extends Operation {
  /** With ids instead of parameters. */
  readonly target: string
  readonly sentBody: string | undefined
}

/** A good request of every operation, with the example of its body in the contract. A new operation needs nothing here. */
export const EXAMPLES: readonly ExampleRequest[] = OPERATIONS.map((operation) => ({
  ...operation,
  target: targetOf(operation) + requiredQueryOf(operation),
  sentBody:
    operation.body === undefined
      ? operation.csvExample
      : toJson(exampleOf(operation.operationId, operation.body)),
}))

/** With a key instead of a pairing code. */
export const EXAMPLES_WITH_KEY = EXAMPLES.filter(({ takesPairingCode }) => !takesPairingCode)

export function targetOf(
  { path, method }: Pick<Operation, 'path' | 'method'>,
  idOf = (name: string) => IDS[name]?.[method === 'DELETE' ? 1 : 0],
): string {
  return path.replace(/\{(\w+)\}/, (_, name: string) => {
    const id = idOf(name)
    if (id === undefined) throw new Error(`no example has a ${name}`)
    return id
  })
}

/** The query parameters that an operation needs, with the examples of the contract. */
function requiredQueryOf({ operationId, query = {} }: Operation): string {
  const required = Object.entries(query).filter(([, schema]) => isRequiredParameter(schema))
  const values = required.map(([name, schema]) => `${name}=${exampleOf(`${operationId} ${name}`, schema)}`)
  return values.length === 0 ? '' : `?${values.join('&')}`
}

export function exampleOf(name: string, schema: object): Readonly<Record<string, unknown>> {
  const { examples: [example] = [] } = schema as {
    readonly examples?: readonly Readonly<Record<string, unknown>>[]
  }
  if (example === undefined) throw new Error(`${name} has no example`)
  return example
}

/** A service with the records that the examples name. */
export async function startExampleShop(
  options: Parameters<typeof TestService.start>[0] = {},
): Promise<TestService> {
  const service = await TestService.start({
    settings: { webhookPrivateAddresses: 'on' },
    lookup: async () => ['127.0.0.1'],
    ...options,
  })
  await service.send('POST', '/categories', { id: 77, name: 'Empty' })
  await service.send('POST', '/pets', { id: 4, name: 'Ordered', categoryId: 1, quantity: 100 })
  await service.send('POST', '/pets', { id: 77, name: 'Gone soon', categoryId: 1 })
  await service.send('POST', '/pets', { id: 78, name: 'Scanned', categoryId: 1, barcode: 'SCANNED' })
  for (const id of ['key_1', 'key_77']) await service.createKey('pro', { id, permissions: [] })
  // The sale has enough units for each test to reverse some.
  const sale = [
    1_000_000,
    1_000_000,
    "'change'",
    1,
    1_000_004,
    4,
    "'available'",
    service.now,
    "'key_1'",
    "'sold'",
    -1_000_000,
  ]
  await service.run(
    `INSERT INTO log (id, document, kind, pet_id, before, after, status, at, key_id, reason, delta) VALUES (${sale})`,
  )
  for (const id of [1n, 77n]) await addWebhook(service.store, { id, url: NOWHERE })
  return service
}
