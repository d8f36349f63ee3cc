import type { Contract, Operation } from '../contract.ts'
import type { Parameter } from '../openapi-document.ts'
import { startingBody, startingValue } from '../schema-words.ts'

/** A request as the reader has filled it in so far. Empty values are not sent. */
export interface RequestDraft {
  /** By `fieldId`. */
  readonly values: Readonly<Record<string, string>>
  readonly body: string
}

/** A request that can be sent, but for its key. */
export interface PreparedRequest {
  readonly method: string
  /** Behind the base address, query included. */
  readonly path: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | undefined
}

/** Parameters of one name can stand in several places. */
export function fieldId({ in: place, name }: Pick<Parameter, 'in' | 'name'>): string {
  return `${place}-${name}`
}

export function startingDraft(contract: Contract, operation: Operation): RequestDraft {
  const values = operation.parameters.map((each) => [fieldId(each), startingValue(contract, each)] as const)
  return { values: Object.fromEntries(values), body: startingBody(contract, operation) }
}

export function prepareRequest(operation: Operation, { values, body }: RequestDraft): PreparedRequest {
  const query = new URLSearchParams()
  const headers: [string, string][] = []
  let path = operation.path
  for (const parameter of operation.parameters) {
    const value = values[fieldId(parameter)]?.trim() ?? ''
    if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(value))
    else if (value === '') continue
    else if (parameter.in === 'query') query.append(parameter.name, value)
    else headers.push([parameter.name, value])
  }
  if (operation.body !== undefined) headers.push(['Content-Type', 'application/json'])
  return {
    method: operation.method,
    path: query.size === 0 ? path : `${path}?${query}`,
    headers,
    body: operation.body === undefined ? undefined : body,
  }
}

export function isEventStream({ answers }: Operation): boolean {
  return answers.some(({ events }) => events !== undefined)
}
