import type { Contract, Operation } from '../contract.ts'
import type { Parameter, Schema } from '../openapi-document.ts'
import { startingBody } from '../schema-example.ts'
import { exactValue } from './json-text.ts'
import { fieldId, isEventStream, type RequestDraft } from './request-draft.ts'
import { inQuotes } from './string-literal.ts'

type Fields<Value> = Readonly<Record<string, Value>>

/** The client handles this one by itself: see its option `known`. */
const HANDLED_BY_CLIENT = 'If-None-Match'
/** By operation: the field of the body that is an argument of its own, where the others go among the options. */
const BEFORE_OPTIONS: Fields<string> = { adjustInventory: 'changes' }
/** By operation: what the client gives one after the other, over all pages. */
const ITERATED: Fields<string> = { listOrders: 'order' }

/**
 * The call of our client. Its methods follow the contract: named as the operation, parameters of the path first, then
 * the body, then an object of options.
 */
export function clientSample(
  contract: Contract,
  operation: Operation,
  draft: RequestDraft,
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string },
): string {
  const body = bodyArguments(contract, operation, draft.body)
  const options = [...body.options, ...parameterOptions(contract, operation, draft)]
  const args = [
    ...operation.parameters
      .filter((each) => each.in === 'path')
      .map((each) => literal(contract, each.schema, givenValue(draft, each))),
    ...body.first,
    ...(options.length === 0 ? [] : [`{ ${options.join(', ')} }`]),
  ]
  const call = `client.${operation.id}(${args.join(', ')})`
  return [
    "import { PetstoreClient } from '@petstore/client'",
    '',
    'const client = new PetstoreClient({',
    `  baseUrl: ${inQuotes(baseUrl)},`,
    `  apiKey: ${inQuotes(apiKey)},`,
    '})',
    ...use(operation, call),
  ].join('\n')
}

/** What is done with what a call gives. */
function use(operation: Operation, call: string): readonly string[] {
  const item = isEventStream(operation) ? 'event' : ITERATED[operation.id]
  if (item !== undefined) return [`for await (const ${item} of ${call}) {`, `  console.log(${item})`, '}']
  const isEmpty = operation.answers.some(({ status }) => status === 204)
  return isEmpty ? [`await ${call}`] : [`const answer = await ${call}`, 'console.log(answer)']
}

/** The body as arguments: its fields in one object, or one of them first and the others among the options. */
function bodyArguments(contract: Contract, operation: Operation, text: string) {
  if (operation.body === undefined) return { first: [], options: [] }
  const schema = contract.resolve(operation.body.schema)
  const given = objectIn(text) ?? objectIn(startingBody(contract, operation)) ?? {}
  const first = BEFORE_OPTIONS[operation.id]
  if (first === undefined) return { first: [objectLiteral(contract, schema, given)], options: [] }
  const { [first]: part = {}, ...others } = schema.properties ?? {}
  return {
    first: [literal(contract, part, given[first])],
    options: fieldLiterals(contract, others, given),
  }
}

function parameterOptions(contract: Contract, { parameters }: Operation, draft: RequestDraft): string[] {
  return parameters.flatMap((parameter) => {
    const value = givenValue(draft, parameter)
    if (parameter.in === 'path' || parameter.name === HANDLED_BY_CLIENT || value === '') return []
    return [`${inCamelCase(parameter.name)}: ${literal(contract, parameter.schema, value)}`]
  })
}

/** Only what the schema knows: the client's types allow nothing else. */
function fieldLiterals(contract: Contract, properties: Fields<Schema>, given: Fields<unknown>): string[] {
  return Object.entries(properties).flatMap(([name, part]) =>
    given[name] === undefined ? [] : [`${name}: ${literal(contract, part, given[name])}`],
  )
}

function objectLiteral(contract: Contract, { properties = {} }: Schema, given: Fields<unknown>): string {
  return `{ ${fieldLiterals(contract, properties, given).join(', ')} }`
}

function objectIn(text: string): Fields<unknown> | undefined {
  const value = exactValue(text)
  return isObject(value) ? value : undefined
}

function isObject(value: unknown): value is Fields<unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function literal(contract: Contract, schema: Schema, value: unknown): string {
  const { type, format, items = {}, ...resolved } = contract.resolve(schema)
  if (Array.isArray(value))
    return `[\n${value.map((each) => `  ${literal(contract, items, each)},\n`).join('')}]`
  if (isObject(value)) return objectLiteral(contract, resolved, value)
  const text = String(value)
  if (type !== 'integer') return typeof value === 'string' ? inQuotes(text) : JSON.stringify(value)
  if (!/^-?\d+$/.test(text)) return inQuotes(text)
  return format === 'int64' ? `${text}n` : text
}

function givenValue({ values }: RequestDraft, parameter: Parameter): string {
  return values[fieldId(parameter)]?.trim() ?? ''
}

/** `If-Match` is `ifMatch`, `Last-Event-ID` is `lastEventId`. */
function inCamelCase(name: string): string {
  if (!name.includes('-')) return name
  return name.toLowerCase().replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
