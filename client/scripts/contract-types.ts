/**
 * Writes src/contract-types.ts from ../openapi.json (`--write`), or fails when it is not what the contract says
 * (`--check`). Whatever in the contract it does not understand, it refuses: nothing drifts silently.
 */

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
}

interface Content {
  readonly content?: Readonly<Record<string, Body>>
}

interface Body {
  readonly schema: Schema
  /** The data of each event of a stream, by the event's name. */
  readonly 'x-event-data'?: Readonly<Record<string, Schema>>
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly deprecated?: boolean
  readonly parameters: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly requestBody: Content } }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters: Readonly<Record<string, Parameter>>
  }
}

const CONTRACT = new URL('../../openapi.json', import.meta.url)
const TYPES = new URL('../src/contract-types.ts', import.meta.url)

const SCHEMAS = '#/components/schemas/'

/** `Error` is taken in JavaScript. */
function schemaName(ref: string): string {
  const name = ref.replace(SCHEMAS, '')
  return name === 'Error' ? 'ErrorBody' : name
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schemaName(schema.$ref)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return choices.map(typeOf).join(' | ')
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ')
  if (schema.type === 'integer') return schema.format === 'int64' ? 'bigint' : 'number'
  if (schema.type === 'array' && schema.items !== undefined) return `readonly ${typeOf(schema.items)}[]`
  if (schema.type === 'object') return objectType(schema)
  if (schema.type === 'string' || schema.type === 'boolean' || schema.type === 'null') return schema.type
  throw new Error(`contract-types.ts does not know what to make of ${JSON.stringify(schema)}`)
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

/** The fields of a schema that are int64, or that hold objects which have such fields. */
function int64Fields(schemas: Contract['components']['schemas'], schema: Schema): string[] {
  const { properties = {}, required = [], oneOf = [] } = schema
  const [first] = oneOf
  if (first?.$ref !== undefined) return int64Fields(schemas, resolved(schemas, first.$ref))
  return Object.entries(properties).flatMap(([name, field]) => {
    const type = field.format === 'int64' ? 'int64' : heldSchema(schemas, field)
    return type === undefined ? [] : [`${name}: { type: '${type}', required: ${required.includes(name)} }`]
  })
}

function heldSchema(schemas: Contract['components']['schemas'], field: Schema): string | undefined {
  const { $ref } = field.items ?? field
  if ($ref === undefined) return undefined
  return int64Fields(schemas, resolved(schemas, $ref)).length === 0 ? undefined : schemaName($ref)
}

function resolved<Component>(components: Readonly<Record<string, Component>>, ref: string): Component {
  const component = components[ref.split('/').at(-1) ?? '']
  if (component === undefined) throw new Error(`the contract has no ${ref}`)
  return component
}

function declaration(name: string, schema: Schema): string {
  const head = `${comment(schema.description)}export`
  const type = typeOf(schema)
  return type.startsWith('{')
    ? `${head} interface ${schemaName(name)} ${type}`
    : `${head} type ${schemaName(name)} = ${type}`
}

/** The parameters in `place`, as the fields of a type. */
function parameters({ parameters: all }: Operation, shared: Contract['components'], place: string): string {
  const fields = all
    .map((parameter) => ('$ref' in parameter ? resolved(shared.parameters, parameter.$ref) : parameter))
    .filter((parameter) => parameter.in === place)
    .map(({ name, required, schema }) => `readonly '${name}'${required ? '' : '?'}: ${typeOf(schema)}`)
  return fields.length === 0 ? 'NoFields' : `{ ${fields.join('; ')} }`
}

/** The answer of a success: its type, and the name of the schema, or of those of its events. */
function answerOf({ operationId, responses }: Operation): { type: string; of: string } {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  if (success !== undefined && success.content === undefined) return { type: 'undefined', of: 'null' }
  const content = success?.content ?? {}
  const events = content['text/event-stream']?.['x-event-data']
  if (events !== undefined) {
    const names = Object.entries(events).map(([name, schema]) => `${name}: ${nameOf(schema)}`)
    return {
      type: objectType({ properties: events, required: Object.keys(events) }),
      of: `{ ${names.join(', ')} }`,
    }
  }
  const schema = content['application/json']?.schema
  const one = schema?.type === 'array' ? schema.items : schema
  if (schema === undefined || one?.$ref === undefined) {
    throw new Error(`contract-types.ts does not know what to make of the answer of ${operationId}`)
  }
  return { type: typeOf(schema), of: nameOf(one) }
}

function nameOf({ $ref }: Schema): string {
  return $ref === undefined ? 'null' : `'${schemaName($ref)}'`
}

/** The schema of what each delivery to a webhook has in it, by its type. */
function payloads(webhooks: Contract['webhooks']): [type: string, name: string][] {
  return Object.entries(webhooks).map(([type, { post }]) => {
    const ref = post.requestBody.content?.['application/json']?.schema.$ref
    if (ref === undefined) throw new Error(`contract-types.ts does not know what to make of webhook ${type}`)
    return [type, schemaName(ref)]
  })
}

function generate({ paths, webhooks, components }: Contract): string {
  const schemas = Object.entries(components.schemas)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const types = operations.map(({ operation }) => {
    const body = operation.requestBody?.content?.['application/json']?.schema
    return `${comment(operation.deprecated ? `${operation.summary} (deprecated)` : operation.summary)}${operation.operationId}: {
      readonly params: ${parameters(operation, components, 'path')}
      readonly query: ${parameters(operation, components, 'query')}
      readonly headers: ${parameters(operation, components, 'header')}
      readonly body: ${body === undefined ? 'undefined' : typeOf(body)}
      readonly answer: ${answerOf(operation).type}
    }`
  })
  const facts = operations.map(
    ({ path, method, operation }) =>
      `${operation.operationId}: { method: '${method}', path: '${path}', answer: ${answerOf(operation).of} },`,
  )
  const delivered = payloads(webhooks)
  const int64 = schemas.map(
    ([name, schema]) => `${schemaName(name)}: { ${int64Fields(components.schemas, schema).join(', ')} },`,
  )
  return `// Made from openapi.json by client/scripts/contract-types.ts: "npm run contract:client" writes it anew.

type NoFields = Readonly<Record<never, never>>

${schemas.map(([name, schema]) => declaration(name, schema)).join('\n\n')}

/** What each operation takes and gives. */
export interface Operations {
${types.join('\n')}
}

/** Where each operation is, and the schema of its answer or of each of its events. */
export const OPERATIONS = {
${facts.join('\n')}
} as const satisfies Readonly<Record<keyof Operations, { method: string; path: string; answer: unknown }>>

/** What arrives at a webhook; \`type\` tells which. */
export type WebhookPayload = ${delivered.map(([, name]) => name).join(' | ')}

/** The schema of each. */
export const WEBHOOK_PAYLOADS = {
${delivered.map(([type, name]) => `'${type}': '${name}',`).join('\n')}
} as const satisfies Readonly<Record<WebhookPayload['type'], keyof typeof INT64_FIELDS>>

/**
 * The fields of each schema that are int64, \`bigint\` in the program and digits on the wire, or that hold an object of
 * another schema with such fields, or an array of them.
 */
export const INT64_FIELDS = {
${int64.join('\n')}
} as const
`
}

/** As Biome would have it, so that lint and format agree with what is generated. */
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
  console.log('client/src/contract-types.ts is written')
} else {
  const file = Bun.file(TYPES)
  const checkedIn = (await file.exists()) ? await file.text() : ''
  if (checkedIn !== types) {
    console.error('client/src/contract-types.ts has drifted from openapi.json: run "npm run contract:client"')
    process.exit(1)
  }
  console.log('client/src/contract-types.ts agrees with openapi.json')
}
