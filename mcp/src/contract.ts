import openapi from '../../openapi.json' with { type: 'json' }

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>

export interface ObjectSchema extends Schema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, Schema>>
  readonly required: readonly string[]
}

type Operation = { readonly parameters: readonly object[]; readonly responses: object }

/** Numbers of MCP have 53 bits and ids have 64, so ids are texts. */
const ID: Schema = { type: 'string', pattern: '^-?[0-9]{1,19}$' }

/** A part of the contract without references, titles and examples, and with ids as texts. */
export function resolve(part: object): Schema {
  return JSON.parse(JSON.stringify(part), (name, value) => {
    if (!isRecord(value)) return name === 'title' || name === 'examples' ? undefined : value
    const { $ref, format, maximum, description } = value
    if (typeof $ref === 'string') return resolve(lookUp($ref))
    return format === 'int64' && maximum === undefined ? { ...ID, description } : value
  })
}

/** The parameters of an operation as one object, without headers and the named ones. */
export function parametersOf({ parameters }: Operation, omitted: readonly string[] = []): ObjectSchema {
  const given = parameters
    .map(resolve)
    .filter(({ in: place, name }) => place !== 'header' && !omitted.includes(String(name)))
  return {
    type: 'object',
    properties: Object.fromEntries(given.map(({ name, schema }) => [name, schema])),
    required: given.filter(({ required }) => required === true).map(({ name }) => String(name)),
  }
}

/** The successful response of an operation. A list becomes the `items` of an object, beside the cursor `next`. */
export function resultOf({ responses }: Operation): ObjectSchema {
  const [, response] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
  const schema = resolve(response.content['application/json'].schema)
  if (schema.type !== 'array') return schema as ObjectSchema
  const next = { type: 'string', description: 'The cursor of the next page; absent on the last page.' }
  return { type: 'object', properties: { items: schema, next }, required: ['items'] }
}

/** The value with its ids as `bigint`, as the client takes them. */
export function readIds(schema: Schema, value: unknown): unknown {
  if (schema.pattern === ID.pattern) return BigInt(String(value))
  if (Array.isArray(value)) return value.map((item) => readIds(schema.items as Schema, item))
  if (!isRecord(value)) return value
  const { properties = {} } = schema as Partial<ObjectSchema>
  const fields = Object.entries(value).map(([name, part]) => [name, readIds(properties[name] ?? {}, part)])
  return Object.fromEntries(fields)
}

function lookUp(reference: string): Schema {
  const [, ...names] = reference.split('/')
  return names.reduce<Schema>((part, name) => part[name] as Schema, openapi)
}

function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
