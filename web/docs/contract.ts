type ByName<Value> = Readonly<Record<string, Value>>

/** The parts of openapi.json, an OpenAPI 3.1 document, that the API docs show, as `readContract` returns them. */
interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  /** By path, then by method. */
  readonly paths: ByName<ByName<DescribedOperation>>
  /** By the type of the delivery. */
  readonly webhooks: ByName<{ readonly post: DescribedOperation }>
  readonly components: { readonly headers: ByName<Header>; readonly schemas: ByName<Schema> }
  readonly 'x-error-codes': readonly {
    readonly code: string
    readonly status: number
    readonly description: string
  }[]
  readonly 'x-rate-limits': {
    /** `null` if the limits are agreed for each key. */
    readonly plans: ByName<{ readonly perMinute: number; readonly perDay: number } | null>
    readonly ban: { readonly firstSeconds: number; readonly longestSeconds: number }
  }
  readonly 'x-constants': ByName<number>
}

interface DescribedOperation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly [string]
  readonly 'x-stability': 'stable' | 'beta' | 'experimental'
  /** The day on which a deprecated operation ends. */
  readonly 'x-sunset'?: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: ByName<Media> }
  readonly responses: ByName<{
    readonly description: string
    readonly headers: ByName<Header>
    /** By media type. Only an event stream has `x-event-data`: the data of each kind of event. */
    readonly content?: ByName<Media & { readonly 'x-event-data'?: ByName<Schema> }>
  }>
}

interface Media {
  readonly schema: Schema
  /** The example of a body whose schema has none. */
  readonly example?: unknown
}

interface Header {
  readonly description: string
  readonly required: boolean
  readonly schema: Schema
}

export interface Parameter extends Header {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
}

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly properties?: ByName<Schema>
  readonly required?: readonly string[]
  readonly items?: Schema
}

export interface Operation extends Omit<DescribedOperation, 'tags' | 'requestBody' | 'responses'> {
  readonly method: string
  /** Relative to the base URL, with parameters in braces. */
  readonly path: string
  readonly tag: string
  readonly body: (Media & { readonly type: string }) | undefined
  readonly success: Answer
  /** The other responses: errors, and 304. */
  readonly failures: readonly Answer[]
}

export interface Answer {
  readonly status: number
  readonly description: string
  readonly headers: ByName<Header>
  readonly schema: Schema | undefined
  /** The media type. */
  readonly type: string | undefined
  /** The data of each kind of event, if the response is an event stream. */
  readonly events: ByName<Schema> | undefined
}

export interface Contract {
  readonly document: OpenApiDocument
  readonly operations: readonly Operation[]
  /** The schema that a reference names; other schemas as they are. */
  readonly resolve: (schema: Schema) => Schema
}

/** Only references to schemas are left. Variants of an object are merged into one. */
export function readContract(json: unknown): Contract {
  const document = simplify(json, json) as OpenApiDocument
  return {
    document,
    operations: Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => readOperation(method, path, described)),
    ),
    resolve: (schema) => document.components.schemas[nameOf(schema) ?? ''] ?? schema,
  }
}

function readOperation(method: string, path: string, described: DescribedOperation): Operation {
  const { tags, requestBody, responses, ...operation } = described
  const [success, ...failures] = Object.entries(responses).map(
    ([status, { content, ...response }]): Answer => {
      const [[type, media] = []] = Object.entries(content ?? {})
      const events = media?.['x-event-data']
      return { ...response, status: Number(status), type, schema: media?.schema, events }
    },
  )
  if (success === undefined) throw new Error(`${operation.operationId} has no response`)
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {})
  const body = type === undefined || media === undefined ? undefined : { ...media, type }
  return { ...operation, method: method.toUpperCase(), path, tag: tags[0], body, success, failures }
}

type Json = Readonly<Record<string, unknown>>

function simplify(value: unknown, document: unknown): unknown {
  if (Array.isArray(value)) return value.map((part) => simplify(part, document))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, anyOf, oneOf } = value as { $ref?: string; anyOf?: readonly Json[]; oneOf?: readonly Json[] }
  if ($ref !== undefined && !$ref.includes('/schemas/'))
    return simplify(componentAt($ref, document), document)
  const parts = Object.entries(value).map(([name, part]) => [name, simplify(part, document)] as const)
  const simplified = Object.fromEntries(parts)
  // A value or null.
  if (anyOf?.[1]?.type === 'null') return { ...anyOf[0], ...simplified, type: [anyOf[0]?.type, 'null'] }
  const variants = (oneOf ?? anyOf)?.map((variant) => {
    const resolved = typeof variant.$ref === 'string' ? componentAt(variant.$ref, document) : variant
    return simplify(resolved, document) as Schema
  })
  if (variants === undefined) return simplified
  const required = variants.map((variant) => variant.required ?? [])
  return {
    ...simplified,
    properties: Object.assign({}, simplified.properties, ...variants.map(({ properties }) => properties)),
    required: required[0]?.filter((name) => required.every((names) => names.includes(name))),
  }
}

function componentAt(reference: string, document: unknown): unknown {
  const path = reference.split('/').slice(1)
  return path.reduce((value, name) => (value as Json)[name], document)
}

/** The name of the schema that a reference leads to. */
export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1)
}
