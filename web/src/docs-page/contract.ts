import type {
  ErrorCodeFacts,
  Media,
  OpenApiDocument,
  OpenApiOperation,
  OpenApiResponse,
  Parameter,
  PlanLimits,
  Reference,
  Schema,
} from './openapi-document.ts'

export type Stability = 'stable' | 'beta' | 'experimental'

export interface Operation {
  readonly id: string
  readonly method: string
  /** Relative to the base URL, with parameters in braces. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly stability: Stability
  readonly isDeprecated: boolean
  /** When a deprecated operation ends, as `2030-12-05`. */
  readonly sunset: string | undefined
  readonly parameters: readonly Parameter[]
  readonly body: { readonly schema: Schema; readonly isRequired: boolean } | undefined
  readonly answers: readonly Answer[]
}

/** A response of an operation. */
export interface Answer {
  readonly status: number
  readonly description: string
  readonly headers: readonly AnswerHeader[]
  readonly schema: Schema | undefined
  readonly mediaType: string | undefined
  /** The data of each kind of event, if the response is an event stream. */
  readonly events: ReadonlyMap<string, Schema> | undefined
}

export interface AnswerHeader {
  readonly name: string
  readonly description: string
  readonly schema: Schema
  readonly isRequired: boolean
}

export interface OperationGroup {
  readonly tag: string
  readonly description: string
  readonly operations: readonly Operation[]
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const
const REFERENCE = /^#\/components\/(\w+)\/(.+)$/

/** The OpenAPI document of the service with its references resolved. */
export class Contract {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly groups: readonly OperationGroup[]
  readonly operations: readonly Operation[]
  readonly schemas: ReadonlyMap<string, Schema>
  readonly webhooks: readonly { readonly type: string; readonly summary: string; readonly schema: Schema }[]
  readonly errorCodes: readonly ErrorCodeFacts[]
  /** By name; `null` if the limits are agreed for each key. */
  readonly plans: ReadonlyMap<string, PlanLimits | null>
  readonly ban: OpenApiDocument['x-rate-limits']['ban']
  readonly #document: OpenApiDocument

  constructor(document: OpenApiDocument) {
    this.#document = document
    this.title = document.info.title
    this.version = document.info.version
    this.description = document.info.description ?? ''
    this.servers = document.servers.map(({ url, description = '' }) => ({ url, description }))
    const schemas = Object.entries(document.components.schemas)
    this.schemas = new Map(schemas.map(([name, schema]) => [name, withNullableTypes(schema)]))
    this.webhooks = Object.entries(document.webhooks).map(([type, { post }]) => {
      const { summary = '', requestBody } = post
      return { type, summary, schema: requestBody?.content['application/json']?.schema ?? {} }
    })
    this.errorCodes = document['x-error-codes']
    this.plans = new Map(Object.entries(document['x-rate-limits'].plans))
    this.ban = document['x-rate-limits'].ban
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = item[method]
        return operation === undefined ? [] : [this.#operation(method, path, operation)]
      }),
    )
    this.groups = groupsOf(document, operations)
    // In the order of the navigation.
    this.operations = this.groups.flatMap(({ operations }) => operations)
  }

  operation(id: string): Operation | undefined {
    return this.operations.find((operation) => operation.id === id)
  }

  /** Follows a reference and merges the variants of an object. */
  resolve(schema: Schema): Schema {
    const name = nameOf(schema)
    const resolved = name === undefined ? schema : (this.schemas.get(name) ?? {})
    return resolved.oneOf === undefined ? resolved : this.#merged(resolved, resolved.oneOf)
  }

  /** One object with the fields of all variants. Only fields that every variant requires are required. */
  #merged(schema: Schema, oneOf: readonly Schema[]): Schema {
    const variants = oneOf.map((variant) => this.resolve(variant))
    const required = variants.map((variant) => variant.required ?? [])
    return {
      ...schema,
      type: 'object',
      properties: Object.assign({}, ...variants.map(({ properties }) => properties)),
      required: (required[0] ?? []).filter((name) => required.every((names) => names.includes(name))),
    }
  }

  /** The last segment of the base URL, such as `v1`. */
  get versionSegment(): string {
    const path = new URL(this.servers[0]?.url ?? '/v1', 'http://localhost').pathname
    return path.split('/').findLast((segment) => segment !== '') ?? 'v1'
  }

  #operation(method: string, path: string, described: OpenApiOperation): Operation {
    const body = described.requestBody
    const bodySchema = body === undefined ? undefined : Object.values(body.content)[0]?.schema
    return {
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      summary: described.summary ?? described.operationId,
      description: described.description ?? '',
      tag: described.tags?.[0] ?? '',
      stability: described['x-stability'] ?? 'stable',
      isDeprecated: described.deprecated ?? false,
      sunset: described['x-sunset'],
      parameters: (described.parameters ?? []).map((parameter) =>
        resolveReference(parameter, this.#document.components.parameters),
      ),
      body:
        bodySchema === undefined ? undefined : { schema: bodySchema, isRequired: body?.required ?? false },
      answers: Object.entries(described.responses).map(([status, answer]) =>
        this.#answer(Number(status), resolveReference(answer, this.#document.components.responses)),
      ),
    }
  }

  #answer(status: number, { description, headers = {}, content = {} }: OpenApiResponse): Answer {
    const [mediaType, media] = (Object.entries(content)[0] ?? []) as [string?, Media?]
    const events = media?.['x-event-data']
    return {
      status,
      description,
      headers: Object.entries(headers).map(([name, header]) => {
        const referred = REFERENCE.exec(header.$ref ?? '')?.[2]
        const resolved = referred === undefined ? header : this.#document.components.headers[referred]
        return {
          name,
          description: resolved?.description ?? '',
          schema: resolved?.schema ?? {},
          isRequired: resolved?.required ?? false,
        }
      }),
      mediaType,
      schema: media?.schema,
      events: events === undefined ? undefined : new Map(Object.entries(events)),
    }
  }
}

/** Writes `anyOf: [{ type: 'string' }, { type: 'null' }]` as `type: ['string', 'null']` in the properties. */
function withNullableTypes(schema: Schema): Schema {
  if (schema.properties === undefined) return schema
  const properties = Object.entries(schema.properties).map(([name, property]): [string, Schema] => {
    const [value, none] = property.anyOf ?? []
    if (value?.type === undefined || none?.type !== 'null') return [name, property]
    return [name, { ...value, type: [value.type, 'null'].flat() }]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

function resolveReference<Component extends object>(
  described: Component | Reference,
  components: Readonly<Record<string, Component>>,
): Component {
  if (!('$ref' in described)) return described
  const component = components[REFERENCE.exec(described.$ref)?.[2] ?? '']
  if (component === undefined) throw new Error(`the contract has no ${described.$ref}`)
  return component
}

/** The name of the resource that a schema refers to. */
export function nameOf(schema: Schema): string | undefined {
  return REFERENCE.exec(schema.$ref ?? '')?.[2]
}

/** The error codes in a description of the form `` `code`: when it occurs. `` */
export function codesOf({
  description,
}: Answer): readonly { readonly code: string; readonly when: string }[] {
  return [...description.matchAll(/`(\w+)`: ([^`]*)/g)].map(([, code = '', when = '']) => ({
    code,
    when: when.trim(),
  }))
}

function groupsOf(document: OpenApiDocument, operations: readonly Operation[]): OperationGroup[] {
  const described = new Map((document.tags ?? []).map(({ name, description = '' }) => [name, description]))
  const tags = new Set([...described.keys(), ...operations.map(({ tag }) => tag)])
  return [...tags]
    .map((tag) => ({
      tag,
      description: described.get(tag) ?? '',
      operations: operations.filter((operation) => operation.tag === tag),
    }))
    .filter((group) => group.operations.length > 0)
}
