import type {
  Header,
  OpenApiDocument,
  OpenApiOperation,
  OpenApiResponse,
  Parameter,
  Reference,
  Schema,
} from './openapi-document.ts'

export interface Operation extends Pick<OpenApiOperation, 'summary' | 'description'> {
  readonly id: string
  readonly method: string
  /** Relative to the base URL, with parameters in braces. */
  readonly path: string
  readonly tag: string
  readonly stability: OpenApiOperation['x-stability']
  /** When it ends, as `2030-12-05`; `undefined` unless it is deprecated. */
  readonly sunset: string | undefined
  readonly parameters: readonly Parameter[]
  readonly body: Schema | undefined
  /** The example of a body that is a CSV file instead of JSON. */
  readonly csvExample: string | undefined
  readonly answers: readonly Answer[]
}

/** A response of an operation. */
export interface Answer {
  readonly status: number
  readonly description: string
  readonly codes: readonly { readonly code: string; readonly when: string }[]
  readonly headers: readonly (Header & { readonly name: string })[]
  readonly schema: Schema | undefined
  readonly mediaType: string | undefined
  /** The data of each kind of event, if the response is an event stream. */
  readonly events: Readonly<Record<string, Schema>> | undefined
}

export interface OperationGroup {
  readonly tag: string
  readonly description: string
  readonly operations: readonly Operation[]
}

/** The OpenAPI document of the service with its references resolved. */
export class Contract {
  readonly document: OpenApiDocument
  readonly groups: readonly OperationGroup[]
  /** In the order of the groups. */
  readonly operations: readonly Operation[]
  readonly schemas: ReadonlyMap<string, Schema>

  constructor(document: OpenApiDocument) {
    this.document = document
    const schemas = Object.entries(document.components.schemas)
    this.schemas = new Map(schemas.map(([name, schema]) => [name, withNullableTypes(schema)]))
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => this.#operation(method, path, described)),
    )
    this.groups = document.tags.map(({ name, description }) => ({
      tag: name,
      description,
      operations: operations.filter(({ tag }) => tag === name),
    }))
    this.operations = this.groups.flatMap((group) => group.operations)
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

  #operation(method: string, path: string, described: OpenApiOperation): Operation {
    const { parameters, responses } = this.document.components
    return {
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      summary: described.summary,
      description: described.description,
      tag: described.tags[0],
      stability: described['x-stability'],
      sunset: described['x-sunset'],
      parameters: described.parameters.map((parameter) => resolveReference(parameter, parameters)),
      body: described.requestBody?.content['application/json']?.schema,
      csvExample: described.requestBody?.content['text/csv']?.example,
      answers: Object.entries(described.responses).map(([status, response]) =>
        this.#answer(Number(status), resolveReference(response, responses)),
      ),
    }
  }

  #answer(status: number, { description, headers, content = {} }: OpenApiResponse): Answer {
    const [mediaType] = Object.keys(content)
    const media = content[mediaType ?? '']
    return {
      status,
      description,
      codes: codesIn(description),
      headers: Object.entries(headers).map(([name, header]) => ({
        name,
        ...resolveReference(header, this.document.components.headers),
      })),
      mediaType,
      schema: media?.schema,
      events: media?.['x-event-data'],
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
  const component = components[nameOf(described) ?? '']
  if (component === undefined) throw new Error(`the contract has no ${described.$ref}`)
  return component
}

/** The name of the component that a reference leads to. */
export function nameOf({ $ref }: Partial<Reference>): string | undefined {
  return $ref?.split('/').at(-1)
}

/** The error codes in a description of the form `` `code`: when it occurs. `` */
function codesIn(description: string): Answer['codes'] {
  const found = [...description.matchAll(/`(\w+)`: ([^`]*)/g)]
  return found.map(([, code = '', when = '']) => ({ code, when: when.trim() }))
}
