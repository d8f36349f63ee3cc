/** The parts of an OpenAPI 3.1 document that this service's contract has. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly servers: readonly { readonly url: string; readonly description?: string }[]
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation | undefined>>>>
  /** By the type of the delivery. */
  readonly webhooks: Readonly<Record<string, { readonly post: OpenApiOperation }>>
  readonly components: {
    readonly headers: Readonly<Record<string, OpenApiHeader>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly responses: Readonly<Record<string, OpenApiResponse>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
  readonly 'x-error-codes': readonly ErrorCodeFacts[]
  readonly 'x-rate-limits': {
    /** `null` if the limits are agreed for each key. */
    readonly plans: Readonly<Record<string, PlanLimits | null>>
    readonly ban: { readonly firstSeconds: number; readonly longestSeconds: number }
  }
}

export interface ErrorCodeFacts {
  readonly code: string
  readonly status: number
  readonly description: string
}

export interface PlanLimits {
  readonly perMinute: number
  readonly perDay: number
}

export interface OpenApiOperation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly deprecated?: boolean
  readonly 'x-stability'?: 'stable' | 'beta' | 'experimental'
  readonly 'x-sunset'?: string
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, OpenApiResponse | Reference>>
}

export interface Reference {
  readonly $ref: string
}

export interface OpenApiResponse {
  readonly description: string
  readonly headers?: Readonly<Record<string, OpenApiHeader>>
  readonly content?: Readonly<Record<string, Media>>
}

export interface OpenApiHeader {
  readonly $ref?: string
  readonly description?: string
  readonly required?: boolean
  readonly schema?: Schema
}

export interface Media {
  readonly schema?: Schema
  readonly 'x-event-data'?: Readonly<Record<string, Schema>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  /** A value or null. */
  readonly anyOf?: readonly Schema[]
  /** The variants of an object. */
  readonly oneOf?: readonly Schema[]
}
