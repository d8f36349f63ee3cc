import type { OperationId } from '@petstore/client'
import type { Contract, Operation } from '../contract.ts'
import type { Schema } from '../openapi-document.ts'
import { startingBody } from '../schema-words.ts'
import { exactValue } from './json-text.ts'
import { answerKindOf, fieldId, type RequestDraft } from './request-draft.ts'

type Fields<Value> = Readonly<Record<string, Value>>

/** The client sends this header itself, for its option `known`. */
const HANDLED_BY_CLIENT = 'If-None-Match'

/** The method of the client for each operation. */
const METHODS: Fields<string> = {
  listInventory: 'inventory.list',
  inventoryEvents: 'inventory.events',
  getInventoryItem: 'inventory.get',
  updateInventory: 'inventory.set',
  adjustInventory: 'inventory.adjust',
  getAvailability: 'inventory.availability',
  listInventoryHistory: 'inventory.history',
  listRecentChanges: 'inventory.changes',
  searchInventory: 'inventory.search',
  createPet: 'pets.create',
  upsertPets: 'pets.upsert',
  getPet: 'pets.get',
  updatePet: 'pets.update',
  removePet: 'pets.remove',
  listCatalog: 'catalog.list',
  listPetEdits: 'pets.history',
  getCatalogPet: 'pets.get',
  listCategories: 'categories.list',
  createCategory: 'categories.create',
  updateCategory: 'categories.update',
  removeCategory: 'categories.remove',
  importFile: 'imports.file',
  listOrders: 'orders.list',
  createOrder: 'orders.create',
  createOrders: 'orders.createMany',
  getOrder: 'orders.get',
  updateOrder: 'orders.update',
  cancelOrder: 'orders.cancel',
  listWebhooks: 'webhooks.list',
  createWebhook: 'webhooks.create',
  getWebhook: 'webhooks.get',
  updateWebhook: 'webhooks.update',
  removeWebhook: 'webhooks.remove',
  listWebhookDeliveries: 'webhooks.deliveries',
  rotateWebhookSecret: 'webhooks.rotateSecret',
  replayWebhook: 'webhooks.replay',
  takeOverWebhook: 'webhooks.takeOver',
  testWebhook: 'webhooks.test',
  listKeys: 'keys.list',
  listKeyNames: 'keys.names',
  createKey: 'keys.create',
  getKey: 'keys.get',
  listKeyAudit: 'keys.audit',
  updateKey: 'keys.update',
  revokeKey: 'keys.revoke',
  rotateKey: 'keys.rotate',
  createPairingCode: 'keys.createPairingCode',
  pairKey: 'keys.pair',
  getLimits: 'limits.get',
} satisfies Readonly<Record<OperationId, string>>

/** For example `client.orders.create`. */
export function clientMethod(operationId: string): string {
  return `client.${METHODS[operationId] ?? operationId}`
}

/** The call of the client: every method takes the path parameters, then the body, then an object of options. */
export function clientSample(
  contract: Contract,
  operation: Operation,
  draft: RequestDraft,
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string },
): string {
  const args: string[] = []
  const options: string[] = []
  for (const parameter of operation.parameters) {
    const { name, schema } = parameter
    const value = draft.values[fieldId(parameter)]?.trim() ?? ''
    if (parameter.in === 'path') args.push(literal(contract, schema, value))
    else if (name !== HANDLED_BY_CLIENT && value !== '')
      options.push(`${inCamelCase(name)}: ${literal(contract, schema, value)}`)
  }
  if (operation.body !== undefined) {
    const body = objectIn(draft.body) ?? objectIn(startingBody(contract, operation)) ?? {}
    args.push(objectLiteral(contract, contract.resolve(operation.body), body))
  }
  if (operation.csvExample !== undefined) args.push(JSON.stringify(draft.body || operation.csvExample))
  if (options.length > 0) args.push(`{ ${options.join(', ')} }`)
  const call = `${clientMethod(operation.id)}(${args.join(', ')})`
  return [
    "import { PetstoreClient } from '@petstore/client'",
    '',
    'const client = new PetstoreClient({',
    `  baseUrl: ${inQuotes(baseUrl)},`,
    `  apiKey: ${inQuotes(apiKey)},`,
    '})',
    ...linesOf(operation, call),
  ].join('\n')
}

function linesOf(operation: Operation, call: string): readonly string[] {
  switch (answerKindOf(operation)) {
    case 'stream':
      return [`for await (const event of ${call}) {`, '  console.log(event)', '}']
    case 'empty':
      return [`await ${call}`]
    case 'json':
      return [`const answer = await ${call}`, 'console.log(answer)']
  }
}

/** Only fields of the schema: the types of the client allow no others. */
function objectLiteral(contract: Contract, { properties = {} }: Schema, given: Fields<unknown>): string {
  const fields = Object.entries(properties).flatMap(([name, part]) =>
    given[name] === undefined ? [] : [`${name}: ${literal(contract, part, given[name])}`],
  )
  return `{ ${fields.join(', ')} }`
}

function objectIn(text: string): Fields<unknown> | undefined {
  const value = exactValue(text)
  return isObject(value) ? value : undefined
}

function isObject(value: unknown): value is Fields<unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function literal(contract: Contract, schema: Schema, value: unknown): string {
  const { type, format, maximum, items = {}, ...resolved } = contract.resolve(schema)
  if (Array.isArray(value))
    return `[\n${value.map((each) => `  ${literal(contract, items, each)},\n`).join('')}]`
  if (isObject(value)) return objectLiteral(contract, resolved, value)
  const text = String(value)
  if (type !== 'integer') return typeof value === 'string' ? inQuotes(text) : JSON.stringify(value)
  if (!/^-?\d+$/.test(text)) return inQuotes(text)
  const isId = format === 'int64' && maximum === undefined
  return isId ? `${text}n` : text
}

/** `If-Match` is `ifMatch`, `Last-Event-ID` is `lastEventId`. */
function inCamelCase(name: string): string {
  if (!name.includes('-')) return name
  return name.toLowerCase().replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** A string literal of TypeScript in single quotes. */
export function inQuotes(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${escaped}'`
}
