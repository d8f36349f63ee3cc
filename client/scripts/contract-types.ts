/**
 * Generates src/contract-types.ts from ../openapi.json (`--write`), or fails if the file differs from what it would
 * generate (`--check`). It throws on any part of the contract that it does not support, so the types never drift.
 */

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
}

interface Content {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, Body>>
}

interface Body {
  readonly schema: Schema
  /** The data of each event of a stream, by the event's name. */
  readonly 'x-event-data'?: Readonly<Record<string, Schema>>
}

interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly deprecated?: boolean
  readonly parameters: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly requestBody: Content } }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters?: Readonly<Record<string, Parameter>>
    readonly responses?: Readonly<Record<string, Content>>
  }
}

const CONTRACT = new URL('../../openapi.json', import.meta.url)
const TYPES = new URL('../src/contract-types.ts', import.meta.url)

const SCHEMAS = '#/components/schemas/'

/** `Error` is a global of JavaScript. */
function schemaName(ref: string): string {
  const name = ref.replace(SCHEMAS, '')
  return name === 'Error' ? 'ErrorBody' : name
}

/** The alternatives of a union. A `oneOf` that only lists required fields does not make a union. */
function variantsOf({ anyOf, oneOf }: Schema): readonly Schema[] | undefined {
  const isUnion = oneOf?.every((variant) => variant.$ref !== undefined || variant.type !== undefined)
  return anyOf ?? (isUnion ? oneOf : undefined)
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schemaName(schema.$ref)
  const variants = variantsOf(schema)
  if (variants !== undefined) return variants.map(typeOf).join(' | ')
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ')
  if (schema.type === 'integer') return isInt64(schema) ? 'bigint' : 'number'
  if (schema.type === 'array' && schema.items !== undefined) return `readonly (${typeOf(schema.items)})[]`
  if (schema.type === 'object') return objectType(schema)
  if (schema.type === 'string' || schema.type === 'boolean' || schema.type === 'null') return schema.type
  throw new Error(`contract-types.ts does not support the schema ${JSON.stringify(schema)}`)
}

function objectType({ properties = {}, required = [] }: Schema): string {
  const fields = Object.entries(properties).map(([name, field]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${comment(field.description)}readonly ${name}${mark}: ${typeOf(field)}`
  })
  return fields.length === 0 ? 'NoFields' : `{\n${fields.join('\n')}\n}`
}

function comment(text: string | undefined): string {
  return text === undefined ? '' : `/** ${text.replaceAll('*/', '*\\/')} */\n`
}

type Schemas = Contract['components']['schemas']

/** The fields of a schema that are int64, or that contain objects with such fields. */
function int64Fields(schemas: Schemas, schema: Schema): string[] {
  const variants = variantsOf(schema)?.map((variant) => referenced(schemas, variant))
  if (variants !== undefined) return [...new Set(variants.flatMap((each) => int64Fields(schemas, each)))]
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([name, field]) => {
    const type = isInt64(field) ? 'int64' : nestedSchema(schemas, field)
    return type === undefined ? [] : [`${name}: { type: '${type}', required: ${required.includes(name)} }`]
  })
}

/** Whether the integer may exceed what a number holds exactly. Integers with a maximum, such as quantities, do not. */
function isInt64(schema: Schema): boolean {
  const isUnbounded = schema.format === 'int64' && schema.maximum === undefined
  return isUnbounded || (variantsOf(schema)?.some(isInt64) ?? false)
}

function nestedSchema(schemas: Schemas, field: Schema): string | undefined {
  const { $ref } = field.items ?? field
  if ($ref === undefined) return undefined
  return int64Fields(schemas, referenced(schemas, { $ref })).length === 0 ? undefined : schemaName($ref)
}

function referenced(schemas: Schemas, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema
  const found = schemas[schema.$ref.replace(SCHEMAS, '')]
  if (found === undefined) throw new Error(`the contract has no ${schema.$ref}`)
  return found
}

function declaration(name: string, schema: Schema): string {
  const head = `${comment(schema.description)}export`
  const type = typeOf(schema)
  return type.startsWith('{')
    ? `${head} interface ${schemaName(name)} ${type}`
    : `${head} type ${schemaName(name)} = ${type}`
}

/** The parameters in `place`, as the fields of a type. */
function parameters({ parameters: all }: Operation, place: string): string {
  const fields = all
    .filter((parameter) => parameter.in === place)
    .map(({ name, required, schema }) => `readonly '${name}'${required ? '' : '?'}: ${typeOf(schema)}`)
  return fields.length === 0 ? 'NoFields' : `{ ${fields.join('; ')} }`
}

function successOf({ responses }: Operation): Content | undefined {
  return Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
}

/** The data of each event of a stream, by the event's name. */
function eventsOf(operation: Operation): Readonly<Record<string, Schema>> | undefined {
  return successOf(operation)?.content?.['text/event-stream']?.['x-event-data']
}

/** The type of a successful response, and the name of the schema of its object or of each of its items. */
function answerOf(operation: Operation): { type: string; schema: string | undefined } {
  const success = successOf(operation)
  if (success !== undefined && success.content === undefined) return { type: 'undefined', schema: undefined }
  const events = eventsOf(operation)
  if (events !== undefined) {
    return { type: objectType({ properties: events, required: Object.keys(events) }), schema: undefined }
  }
  const schema = success?.content?.['application/json']?.schema
  const one = schema?.type === 'array' ? schema.items : schema
  if (schema === undefined || one?.$ref === undefined) {
    throw new Error(`contract-types.ts does not support the response of ${operation.operationId}`)
  }
  return { type: typeOf(schema), schema: schemaName(one.$ref) }
}

function bodySchema({ requestBody }: Operation): Schema | undefined {
  const { 'application/json': json, 'text/csv': csv } = requestBody?.content ?? {}
  return (json ?? csv)?.schema
}

/** An `OperationFacts` literal. */
function operationFacts(path: string, method: string, operation: Operation): string {
  const int64 = operation.parameters.filter(({ schema }) => isInt64(schema)).map(({ name }) => `'${name}'`)
  const maxLimit = operation.parameters.find(({ name }) => name === 'limit')?.schema.maximum
  const bodyRef = bodySchema(operation)?.$ref
  const { schema: answer } = answerOf(operation)
  return `${operation.operationId}: { ${[
    `method: '${method}'`,
    `path: '${path}'`,
    ...(int64.length === 0 ? [] : [`int64: [${int64.join(', ')}]`]),
    ...(bodyRef === undefined ? [] : [`body: '${schemaName(bodyRef)}'`]),
    ...(answer === undefined ? [] : [`answer: '${answer}'`]),
    ...(maxLimit === undefined ? [] : [`maxLimit: ${maxLimit}`]),
  ].join(', ')} },`
}

/** The schema of each webhook payload, by the type of its event. */
function payloads(webhooks: Contract['webhooks']): [type: string, name: string][] {
  return Object.entries(webhooks).map(([type, { post }]) => {
    const ref = post.requestBody.content?.['application/json']?.schema.$ref
    if (ref === undefined) throw new Error(`contract-types.ts does not support the webhook ${type}`)
    return [type, schemaName(ref)]
  })
}

/** The parameter or response itself, or the component that it refers to. */
function component<Part extends { readonly $ref?: string }>(
  parts: Readonly<Record<string, Part>> = {},
  part: Part,
): Part {
  if (part.$ref === undefined) return part
  const found = parts[part.$ref.split('/').at(-1) ?? '']
  if (found === undefined) throw new Error(`the contract has no ${part.$ref}`)
  return found
}

function generate({ paths, webhooks, components }: Contract): string {
  const schemas = Object.entries(components.schemas)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation: {
        ...operation,
        parameters: operation.parameters.map((each) => component(components.parameters, each)),
        responses: Object.fromEntries(
          Object.entries(operation.responses).map(([status, each]) => [
            status,
            component(components.responses, each),
          ]),
        ),
      },
    })),
  )
  const types = operations.map(({ operation }) => {
    const body = bodySchema(operation)
    return `${comment(operation.deprecated ? `${operation.summary} (deprecated)` : operation.summary)}${operation.operationId}: {
      readonly params: ${parameters(operation, 'path')}
      readonly query: ${parameters(operation, 'query')}
      readonly headers: ${parameters(operation, 'header')}
      readonly body: ${body === undefined ? 'undefined' : typeOf(body)}
      readonly answer: ${answerOf(operation).type}
    }`
  })
  const facts = operations.map(({ path, method, operation }) => operationFacts(path, method, operation))
  const events = operations.flatMap(({ operation }) => Object.entries(eventsOf(operation) ?? {}))
  const delivered = payloads(webhooks)
  const int64 = schemas.map(
    ([name, schema]) => `${schemaName(name)}: { ${int64Fields(components.schemas, schema).join(', ')} },`,
  )
  return `// Generated from openapi.json by client/scripts/contract-types.ts; "npm run contract:client" regenerates it.

type NoFields = Readonly<Record<never, never>>

${schemas.map(([name, schema]) => declaration(name, schema)).join('\n\n')}

/** The parameters, body and response of each operation. */
export interface Operations {
${types.join('\n')}
}

/** How an operation is called. */
export interface OperationFacts {
  readonly method: string
  readonly path: string
  /** The path and query parameters that are int64. */
  readonly int64?: readonly string[]
  readonly body?: keyof typeof INT64_FIELDS
  /** The schema of the response, or of each item of a list; absent if there is no body. */
  readonly answer?: keyof typeof INT64_FIELDS
  /** The largest page of a list. */
  readonly maxLimit?: number
}

export const OPERATIONS: Readonly<Record<keyof Operations, OperationFacts>> = {
${facts.join('\n')}
}

/** The schema of each event of the stream; null if the event has no data. */
export const EVENTS = {
${events.map(([name, { $ref }]) => `${name}: ${$ref === undefined ? 'null' : `'${schemaName($ref)}'`},`).join('\n')}
} as const

/** The body of a webhook delivery, by \`type\`. */
export type WebhookPayload = ${delivered.map(([, name]) => name).join(' | ')}

/** The schema of each payload. */
export const WEBHOOK_PAYLOADS = {
${delivered.map(([type, name]) => `'${type}': '${name}',`).join('\n')}
} as const satisfies Readonly<Record<WebhookPayload['type'], keyof typeof INT64_FIELDS>>

/** The fields of each schema that are int64, or that contain objects, or arrays of objects, with such fields. */
export const INT64_FIELDS = {
${int64.join('\n')}
} as const
`
}

/** Formats the source with Biome, so that `biome check` accepts the generated file. */
async function formatted(source: string): Promise<string> {
  const biome = Bun.spawn(
    ['node_modules/.bin/biome', 'format', '--stdin-file-path=client/src/contract-types.ts'],
    {
      cwd: new URL('../..', import.meta.url).pathname,
      stdin: new Blob([source]),
      stderr: 'inherit',
    },
  )
  const text = await new Response(biome.stdout).text()
  if ((await biome.exited) !== 0) throw new Error('Biome could not format the generated types')
  return text
}

const contract = (await Bun.file(CONTRACT).json()) as Contract
const types = await formatted(generate(contract))

if (process.argv.includes('--write')) {
  await Bun.write(TYPES, types)
  console.log('wrote client/src/contract-types.ts')
} else {
  const file = Bun.file(TYPES)
  const checkedIn = (await file.exists()) ? await file.text() : ''
  if (checkedIn !== types) {
    console.error('client/src/contract-types.ts differs from openapi.json: run "npm run contract:client"')
    process.exit(1)
  }
  console.log('client/src/contract-types.ts matches openapi.json')
}
