/**
 * Generates src/contract-types.ts and src/resources.ts from ../openapi.json (`--write`), or fails if a file differs from
 * what it would generate (`--check`). It throws on any part of the contract that it does not support, so the client
 * never drifts from the contract.
 */

import {
  type Contract,
  type Operation,
  operationsOf,
  type Parameter,
  payloads,
  readContract,
  type Schema,
  schemaName,
  streamedEvents,
  writeOrCheck,
} from './contract.ts'

const HEADER =
  '// Generated from openapi.json by client/scripts/contract-types.ts; "npm run contract:client" regenerates it.'

/** `Error` is a global of JavaScript. */
function typeName(name: string): string {
  return name === 'Error' ? 'ErrorBody' : name
}

/** The alternatives of a union. A `oneOf` that only lists required fields does not make a union. */
function variantsOf({ anyOf, oneOf }: Schema): readonly Schema[] | undefined {
  const isUnion = oneOf?.every((variant) => variant.$ref !== undefined || variant.type !== undefined)
  return anyOf ?? (isUnion ? oneOf : undefined)
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return typeName(schemaName(schema.$ref))
  const variants = variantsOf(schema)
  if (variants !== undefined) return variants.map(typeOf).join(' | ')
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ')
  if (typeof schema.const === 'boolean') return String(schema.const)
  if (schema.type === 'integer') return isInt64(schema) ? 'bigint' : 'number'
  if (schema.type === 'array' && schema.items !== undefined) return `readonly (${typeOf(schema.items)})[]`
  if (schema.type === 'object') return objectType(schema)
  if (schema.type === 'string' || schema.type === 'boolean' || schema.type === 'null') return schema.type
  throw new Error(`contract-types.ts does not support the schema ${JSON.stringify(schema)}`)
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  if (typeof additionalProperties === 'object')
    return `Readonly<Record<string, ${typeOf(additionalProperties)}>>`
  const fields = Object.entries(properties).map(([name, field]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${comment(field.description)}readonly ${name}${mark}: ${typeOf(field)}`
  })
  return fields.length === 0 ? 'Readonly<Record<never, never>>' : `{\n${fields.join('\n')}\n}`
}

function comment(text: string | undefined): string {
  return text === undefined ? '' : `/** ${text.replaceAll('*/', '*\\/')} */\n`
}

/** Whether the integer may exceed what a number holds exactly. Integers with a maximum, such as quantities, do not. */
function isInt64(schema: Schema): boolean {
  const isUnbounded = schema.format === 'int64' && schema.maximum === undefined
  return isUnbounded || (variantsOf(schema)?.some(isInt64) ?? false)
}

/** The names of all int64 fields. Throws if one of them is also the name of another number, or a list has other numbers. */
function int64Names({ components }: Contract): readonly string[] {
  const names = new Set<string>()
  const otherNumbers = new Set<string>()
  const visit = (schema: Schema) => {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (isInt64(field)) names.add(name)
      else if (field.type === 'integer' || field.type === 'number') otherNumbers.add(name)
      visit(field)
    }
    if (schema.items !== undefined) {
      const isOtherNumber = schema.items.type === 'integer' && !isInt64(schema.items)
      if (isOtherNumber) throw new Error('contract-types.ts supports no lists of numbers but of int64')
      visit(schema.items)
    }
    for (const variant of schema.anyOf ?? schema.oneOf ?? []) visit(variant)
  }
  for (const schema of Object.values(components.schemas)) visit(schema)
  const clash = [...names].find((name) => otherNumbers.has(name))
  if (clash !== undefined)
    throw new Error(`${clash} is int64 in one schema and another number in a second one`)
  return [...names].sort()
}

/** The schemas of requests, with those of their parts, by name. */
function requestSchemas(contract: Contract): readonly (readonly [name: string, schema: Schema])[] {
  const { schemas } = contract.components
  const bodies = operationsOf(contract).flatMap(({ body }) => (body === undefined ? [] : namedTypes(body)))
  const names = new Set(bodies)
  // The loop also visits the names that it adds.
  for (const name of names) {
    for (const part of namedTypes(schemas[name] ?? {})) names.add(part)
  }
  return Object.entries(schemas).filter(([name]) => names.has(name))
}

/** The longest text or list of each field, such as `customer: 200`. */
function maxLengths({ properties = {} }: Schema): readonly string[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    // A field that may be null is a union.
    const [limit] = [field, ...(variantsOf(field) ?? [])].flatMap(
      ({ maxLength, maxItems }) => maxLength ?? maxItems ?? [],
    )
    return limit === undefined ? [] : [`${name}: ${limit}`]
  })
}

function declaration(name: string, schema: Schema): string {
  const type = typeOf(schema)
  const head = `${comment(schema.description)}export`
  return type.startsWith('{')
    ? `${head} interface ${typeName(name)} ${type}`
    : `${head} type ${typeName(name)} = ${type}`
}

function generateTypes(contract: Contract): string {
  const schemas = Object.entries(contract.components.schemas)
  const events = Object.entries(streamedEvents(contract))
  const deliveries = payloads(contract)
  const enumerations = schemas.filter(([, schema]) => schema.enum !== undefined)
  const limits = requestSchemas(contract).map(([name, schema]) => [name, maxLengths(schema)] as const)
  return `${HEADER}

${schemas.map(([name, schema]) => declaration(name, schema)).join('\n\n')}

/** The data of each event of the stream. */
export interface EventData {
${events.map(([name, schema]) => `readonly ${name}: ${typeOf(schema)}`).join('\n')}
}

export const EVENT_NAMES: ReadonlySet<string> = new Set([${events.map(([name]) => `'${name}'`).join(', ')}])

/** The body of a webhook delivery, by \`type\`. */
export type WebhookPayload = ${deliveries.map(([, schema]) => typeOf(schema)).join(' | ')}

export const WEBHOOK_TYPES: ReadonlySet<string> = new Set([${deliveries.map(([type]) => `'${type}'`).join(', ')}])

/** The values of each enumeration. */
export const VALUES = {
${enumerations.map(([name, { enum: values }]) => `${name}: ${JSON.stringify(values)},`).join('\n')}
} as const

/** The longest text, or the longest list, of each field of a request. */
export const MAX_LENGTHS = {
${limits.flatMap(([name, fields]) => (fields.length === 0 ? [] : [`${name}: { ${fields.join(', ')} },`])).join('\n')}
} as const

/** The fields that are int64. */
export const INT64_FIELDS: ReadonlySet<string> = new Set([${int64Names(contract)
    .map((name) => `'${name}'`)
    .join(', ')}])
`
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function queryName({ id }: Operation): string {
  return `${capitalised(id)}Query`
}

function queryType(operation: Operation): string {
  const fields = operation.query.map((parameter) => {
    const { name, required, description } = parameter
    const type = parameterType(parameter)
    return `${comment(description)}readonly ${name}${required ? `: ${type}` : `?: ${type} | undefined`}`
  })
  return `/** The parameters of \`${operation.resource}.${operation.name}\`. */
export interface ${queryName(operation)} {
${fields.join('\n')}
}`
}

/** The call options of an operation, and its query parameters. */
function optionsType(operation: Operation): string {
  return [
    ...(operation.query.length === 0 ? [] : [queryName(operation)]),
    operation.takesIdempotencyKey ? 'WriteOptions' : 'CallOptions',
    ...(operation.takesIfMatch ? ['Condition'] : []),
  ].join(' & ')
}

function parameterType({ schema }: Parameter): string {
  if (schema.items !== undefined && isInt64(schema.items)) return 'readonly IdInput[]'
  return isInt64(schema) ? 'IdInput' : typeOf(schema)
}

function methodOf(operation: Operation): string {
  const { name, method, path, params, body, isBodyOptional, contentType, answer, maxLimit } = operation
  const isOptional = operation.query.every(({ required }) => required !== true)
  const args = [
    ...params.map((each) => `${each.name}: ${parameterType(each)}`),
    ...(body === undefined ? [] : [`body: Input<${typeOf(body)}>${isBodyOptional ? ' = {}' : ''}`]),
    `options: ${optionsType(operation)}${isOptional ? ' = {}' : ''}`,
  ]
  const values = params.map((each) => each.name)
  const paramsText = values.length === 0 ? [] : [`params: { ${values.join(', ')} }`]
  const head = `${comment(operation.description)}${name}: (${args.join(', ')})`
  if (answer?.type === 'array' && answer.items !== undefined) {
    const names = operation.query.map((each) => each.name)
    const pageBy = names.includes('after') && !names.includes('cursor') ? ["pageBy: 'after'"] : []
    const facts = [...paramsText, ...(maxLimit === undefined ? [] : [`maxLimit: ${maxLimit}`]), ...pageBy]
    const item = typeOf(answer.items)
    return `${head}: List<${item}> => api.list<${item}>('${path}', { ${facts.join(', ')} }, options),`
  }
  const bodyText = body === undefined ? [] : ['body']
  const typeText = contentType === undefined ? [] : [`contentType: '${contentType}'`]
  const input = `{ ${[...paramsText, ...bodyText, ...typeText].join(', ')} }`
  // Without an Idempotency-Key, a second attempt could make the change twice.
  const isRepeatable = method !== 'POST' || operation.takesIdempotencyKey
  const call = `'${method}', '${path}', ${input}, ${isRepeatable ? 'options' : '{ retries: 0, ...options }'}`
  return answer === undefined
    ? `${head}: Promise<void> => api.done(${call}),`
    : `${head}: Promise<${typeOf(answer)}> => api.value<${typeOf(answer)}>(${call}),`
}

/** The names of the types that the methods use. */
function typesOf(operations: readonly Operation[]): readonly string[] {
  const schemas = operations.flatMap(({ query, body, answer }) => [
    ...query.map(({ schema }) => schema),
    ...(body === undefined ? [] : [body]),
    ...(answer === undefined ? [] : [answer]),
  ])
  return [...new Set(schemas.flatMap(namedTypes))].sort()
}

function namedTypes(schema: Schema): readonly string[] {
  if (schema.$ref !== undefined) return [typeOf(schema)]
  const { items, properties = {} } = schema
  const parts = items === undefined ? (variantsOf(schema) ?? Object.values(properties)) : [items]
  return parts.flatMap(namedTypes)
}

function generateResources(contract: Contract): string {
  const operations = operationsOf(contract)
  const resources = [...new Set(operations.map(({ resource }) => resource))]
  const methodsOf = (resource: string) => operations.filter((each) => each.resource === resource)
  return `${HEADER}

import type { ${typesOf(operations).join(', ')} } from './contract-types.ts'
import type { IdInput, Input } from './ids.ts'
import type { List } from './list.ts'
import type { CallOptions, Condition, WriteOptions } from './options.ts'
import type { Api } from './request.ts'

${operations
  .filter(({ query }) => query.length > 0)
  .map(queryType)
  .join('\n\n')}

${resources
  .map(
    (resource) => `export type ${capitalised(resource)}Methods = ReturnType<typeof ${resource}Methods>

export function ${resource}Methods(api: Api) {
  return {
${methodsOf(resource).map(methodOf).join('\n\n')}
  }
}`,
  )
  .join('\n\n')}

/** The methods of the contract, by resource. */
export class Resources {
${resources.map((resource) => `readonly ${resource}: ${capitalised(resource)}Methods`).join('\n')}

  constructor(api: Api) {
${resources.map((resource) => `this.${resource} = ${resource}Methods(api)`).join('\n')}
  }
}

/** The method of each operation. */
export const METHODS = {
${operations.map(({ id, resource, name }) => `${id}: '${resource}.${name}',`).join('\n')}
} as const
`
}

/** Formats the source with Biome, so that `biome check` accepts the generated file. */
async function formatted(path: string, source: string): Promise<string> {
  const biome = Bun.spawn(['node_modules/.bin/biome', 'check', '--write', `--stdin-file-path=${path}`], {
    cwd: new URL('../..', import.meta.url).pathname,
    stdin: new Blob([source]),
    stderr: 'inherit',
  })
  const text = await new Response(biome.stdout).text()
  if ((await biome.exited) !== 0) throw new Error(`Biome could not format ${path}`)
  return text
}

const contract = await readContract()
const TYPES = 'client/src/contract-types.ts'
const RESOURCES = 'client/src/resources.ts'
await writeOrCheck({
  [TYPES]: await formatted(TYPES, generateTypes(contract)),
  [RESOURCES]: await formatted(RESOURCES, generateResources(contract)),
})
