import type { Static, TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { ServiceError } from '../core/values/errors.ts'
import { parseInt64 } from '../core/values/int64.ts'
import { InexactNumber } from './json.ts'

/** What the messages are made of; a TypeBox schema is plain JSON Schema. */
interface SchemaFacts {
  readonly type?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly enum?: readonly unknown[]
}

/** Compiles the schema once; the check it gives answers with the value or says which field is wrong and why. */
export function bodyValidator<Body extends TObject>(schema: Body): (value: unknown) => Static<Body> {
  const compiled = Compile(schema)
  const example = exampleOf(schema)
  return (value) => {
    if (compiled.Check(value)) return value as Static<Body>
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw invalid(`the request body must be a JSON object such as ${example}, got ${shown(value)}`)
    }
    for (const [field, part] of Object.entries(schema.properties)) {
      if (!Object.hasOwn(value, field)) throw invalid(`${field} is missing; it must be ${expected(part)}`)
      const given = Reflect.get(value, field) as unknown
      if (!Compile(part).Check(given))
        throw invalid(`${field} must be ${expected(part)}, got ${shown(given)}`)
    }
    throw invalid(`the request body must look like ${example}`)
  }
}

/** The first example of a schema, as callers would send it. */
export function exampleOf(schema: TSchema): string {
  const { examples } = schema as { examples?: readonly unknown[] }
  return JSON.stringify(examples?.[0] ?? {})
}

/** Reads a path parameter. Those we have are all int64. */
export function readInt64(name: string, text: string): bigint {
  const value = parseInt64(text)
  if (value !== undefined) return value
  const got = text === '' ? 'an empty path segment' : JSON.stringify(shortened(text))
  throw invalid(
    `${name} must be an integer from -9223372036854775808 to 9223372036854775807 in plain digits, got ${got}`,
  )
}

/** What a value has to be, in words. */
export function expected(schema: TSchema): string {
  const { type, minimum, maximum, minLength, enum: values } = schema as SchemaFacts
  if (values !== undefined) return `one of ${values.join(', ')}`
  if (type === 'string' && minLength !== undefined) return 'a string that is not empty'
  if (type !== 'integer') return type === undefined ? 'another value' : `a ${type}`
  if (minimum !== undefined && maximum !== undefined) return `an integer from ${minimum} to ${maximum}`
  return 'an integer'
}

function shown(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof InexactNumber) return shortened(value.text)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'string') return `${JSON.stringify(shortened(value))} (a string)`
  if (typeof value === 'boolean') return `${value} (a boolean)`
  return String(value)
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message)
}
