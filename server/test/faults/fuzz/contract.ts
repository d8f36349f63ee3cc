import contract from '../../../../openapi.json'

/** The part of JSON Schema that the contract uses for requests. */
export interface Schema {
  readonly type?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly string[]
  readonly const?: boolean
  /** The objects that the value can be. */
  readonly oneOf?: readonly Schema[]
  readonly additionalProperties?: boolean
  /** A value, or null. */
  readonly anyOf?: readonly Schema[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly $ref?: string
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}

/** One operation as described by the contract: nothing here comes from the code of the service. */
export interface ContractOperation {
  readonly operationId: string
  readonly method: string
  /** With parameters in braces, relative to the base address. */
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: Schema | undefined
}

interface OperationEntry {
  readonly operationId: string
  readonly parameters: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

const PATHS = contract.paths as unknown as Readonly<Record<string, Readonly<Record<string, OperationEntry>>>>
const PARAMETERS = contract.components.parameters as unknown as Readonly<Record<string, Parameter>>
const SCHEMAS = contract.components.schemas as unknown as Readonly<Record<string, Schema>>

export const CONTRACT_OPERATIONS: readonly ContractOperation[] = Object.entries(PATHS).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters, requestBody }]) => {
      const body = requestBody?.content['application/json']?.schema
      return {
        operationId,
        method: method.toUpperCase(),
        path,
        parameters: parameters.map(resolvedParameter),
        body: body === undefined ? undefined : resolved(body),
      }
    }),
)

function resolvedParameter(parameter: Parameter | { readonly $ref: string }): Parameter {
  if (!('$ref' in parameter)) return parameter
  const found = PARAMETERS[parameter.$ref.replace('#/components/parameters/', '')]
  if (found === undefined) throw new Error(`the contract has no ${parameter.$ref}`)
  return found
}

export function resolved(schema: Schema): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '')
  return name === undefined ? schema : (SCHEMAS[name] ?? schema)
}
