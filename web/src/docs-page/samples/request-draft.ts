import type { Contract, Operation } from '../contract.ts'
import type { Parameter } from '../openapi-document.ts'
import { startingBody, startingValue } from '../schema-words.ts'

/** The values that the reader has entered. Empty values are not sent. */
export interface RequestDraft {
  /** By `fieldId`. */
  readonly values: Readonly<Record<string, string>>
  readonly body: string
}

/** A request without its key. */
export interface PreparedRequest {
  readonly method: string
  /** Relative to the base URL, with the query. */
  readonly path: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | undefined
}

/** A name can occur in the path, the query and the headers. */
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
  const mediaType = bodyMediaType(operation)
  if (mediaType !== undefined) headers.push(['Content-Type', mediaType])
  return {
    method: operation.method,
    path: query.size === 0 ? path : `${path}?${query}`,
    headers,
    body: mediaType === undefined ? undefined : body,
  }
}

/** `undefined` if the operation takes no body. */
export function bodyMediaType({ body, csvExample }: Operation): 'application/json' | 'text/csv' | undefined {
  if (csvExample !== undefined) return 'text/csv'
  return body === undefined ? undefined : 'application/json'
}

export function answerKindOf({ answers }: Operation): 'json' | 'empty' | 'stream' {
  if (answers.some(({ events }) => events !== undefined)) return 'stream'
  return answers.some(({ status }) => status === 204) ? 'empty' : 'json'
}

export function isEventStream(operation: Operation): boolean {
  return answerKindOf(operation) === 'stream'
}
