type ByName<Value> = Readonly<Record<string, Value>>

/** The parts of the contract, an OpenAPI 3.1 document, that the docs use. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  /** By path, then by method. */
  readonly paths: ByName<ByName<OpenApiOperation>>
  /** By the type of the delivery. */
  readonly webhooks: ByName<{ readonly post: OpenApiOperation }>
  readonly components: {
    readonly headers: ByName<Header>
    readonly parameters: ByName<Parameter>
    readonly responses: ByName<OpenApiResponse>
    readonly schemas: ByName<Schema>
  }
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
}

export interface OpenApiOperation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly [string]
  readonly 'x-stability': 'stable' | 'beta' | 'experimental'
  /** When a deprecated operation ends, as `2030-12-05`. */
  readonly 'x-sunset'?: string
  readonly parameters: readonly (Parameter | Reference)[]
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json'?: { readonly schema: Schema }
      readonly 'text/csv'?: { readonly example: string }
    }
  }
  /** By status. */
  readonly responses: ByName<OpenApiResponse | Reference>
}

export interface Reference {
  readonly $ref: string
}

export interface OpenApiResponse {
  readonly description: string
  readonly headers: ByName<Reference>
  /** By media type. Only an event stream has `x-event-data`: the data of each kind of event. */
  readonly content?: ByName<{ readonly schema: Schema; readonly 'x-event-data'?: ByName<Schema> }>
}

export interface Header {
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
  /** A value or null. */
  readonly anyOf?: readonly Schema[]
  /** The variants of an object. */
  readonly oneOf?: readonly Schema[]
}
