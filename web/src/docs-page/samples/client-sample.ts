import { METHODS as GENERATED } from '@petstore/client'
import type { Contract, Operation } from '../contract.ts'
import type { Schema } from '../openapi-document.ts'
import { startingBody } from '../schema-words.ts'
import { exactValue } from './json-text.ts'
import { answerKindOf, fieldId, type RequestDraft } from './request-draft.ts'

type Fields<Value> = Readonly<Record<string, Value>>

/** The client has no option for this header. */
const NOT_IN_CLIENT = 'If-None-Match'

/** The method of the client for each operation. */
const METHODS: Fields<string> = { ...GENERATED, inventoryEvents: 'inventory.events', getPet: 'pets.get' }

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
    else if (name !== NOT_IN_CLIENT && value !== '')
      options.push(`${inCamelCase(name)}: ${literal(contract, schema, value)}`)
  }
  if (operation.body !== undefined) {
    const body = objectIn(draft.body) ?? objectIn(startingBody(contract, operation)) ?? {}
    args.push(objectLiteral(contract, contract.resolve(operation.body), body))
  }
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
  if (type === 'array')
    return `[${text
      .split(',')
      .map((part) => literal(contract, items, part.trim()))
      .join(', ')}]`
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
