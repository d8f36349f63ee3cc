import type { Contract, Operation } from '../contract.ts'
import type { Parameter, Schema } from '../openapi-document.ts'
import { startingBody } from '../schema-example.ts'
import { fieldId, isEventStream, type RequestDraft } from './request-draft.ts'
import { inQuotes } from './string-literal.ts'

/** The client handles this one by itself: see its option `known`. */
const HANDLED_BY_CLIENT = 'If-None-Match'

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
  const args = [
    ...operation.parameters
      .filter((each) => each.in === 'path')
      .map((each) => literal(each.schema, givenValue(draft, each))),
    ...(operation.body === undefined ? [] : [bodyLiteral(contract, operation, draft.body)]),
    ...optionsLiteral(operation, draft),
  ]
  const call = `client.${operation.id}(${args.join(', ')})`
  return [
    "import { PetstoreClient } from '@petstore/client'",
    '',
    'const client = new PetstoreClient({',
    `  baseUrl: ${inQuotes(baseUrl)},`,
    `  apiKey: ${inQuotes(apiKey)},`,
    '})',
    ...(isEventStream(operation)
      ? [`for await (const event of ${call}) {`, '  console.log(event)', '}']
      : [`const answer = await ${call}`, 'console.log(answer)']),
  ].join('\n')
}

function optionsLiteral({ parameters }: Operation, draft: RequestDraft): string[] {
  const options = new Map<string, string>()
  for (const parameter of parameters) {
    const value = givenValue(draft, parameter)
    if (parameter.in === 'path' || parameter.name === HANDLED_BY_CLIENT || value === '') continue
    options.set(inCamelCase(parameter.name), literal(parameter.schema, value))
  }
  return options.size === 0
    ? []
    : [`{ ${[...options].map(([name, value]) => `${name}: ${value}`).join(', ')} }`]
}

/** Only what the schema knows: the client's types allow nothing else. */
function bodyLiteral(contract: Contract, operation: Operation, text: string): string {
  const schema = contract.resolve(operation.body?.schema ?? {})
  const given = objectIn(text) ?? objectIn(startingBody(contract, operation)) ?? {}
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
    given[name] === undefined ? [] : [`${name}: ${literal(part, given[name])}`],
  )
  return `{ ${fields.join(', ')} }`
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function literal(schema: Schema, value: unknown): string {
  const text = String(value)
  if (schema.type !== 'integer') return typeof value === 'string' ? inQuotes(text) : JSON.stringify(value)
  if (!/^-?\d+$/.test(text)) return inQuotes(text)
  return schema.format === 'int64' ? `${text}n` : text
}

function givenValue({ values }: RequestDraft, parameter: Parameter): string {
  return values[fieldId(parameter)]?.trim() ?? ''
}

/** `If-Match` is `ifMatch`, `Last-Event-ID` is `lastEventId`. */
function inCamelCase(name: string): string {
  if (!name.includes('-')) return name
  return name.toLowerCase().replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
