import type { Static, TOptional, TSchema } from 'typebox'
import { IsOptional } from 'typebox'
import { Compile } from 'typebox/compile'
import { ServiceError } from '../core/values/errors.ts'
import { expected } from './validation.ts'

/** The query parameters of an operation: strings and integers, optional or with a default. */
export type QuerySchemas = Readonly<Record<string, TSchema>>

export type QueryValues<Query extends QuerySchemas> = {
  readonly [Name in keyof Query]: Query[Name] extends TOptional<TSchema>
    ? Static<Query[Name]> | undefined
    : Static<Query[Name]>
}

const INTEGER = /^-?(?:0|[1-9]\d{0,15})$/

/**
 * Compiles the schemas once; the reader it gives takes what is behind the `?` of an address. A parameter that is given
 * must be right and be given once; those that the operation does not know are ignored.
 */
export function queryReader<Query extends QuerySchemas>(
  schemas: Query,
): (query: string) => QueryValues<Query> {
  const parameters = Object.entries(schemas).map(([name, schema]) => {
    const { type, default: fallback } = schema as { type?: string; default?: unknown }
    if (!IsOptional(schema) && fallback === undefined) throw new Error(`${name} needs a default`)
    return { name, schema, fallback, isInteger: type === 'integer', compiled: Compile(schema) }
  })
  return (query) => {
    const given = new URLSearchParams(query)
    const values: Record<string, unknown> = {}
    for (const { name, schema, fallback, isInteger, compiled } of parameters) {
      const [text, another] = given.getAll(name)
      if (another !== undefined) {
        throw new ServiceError('invalid_request', `the query parameter ${name} is there twice; give it once`)
      }
      const value = text === undefined ? fallback : isInteger && INTEGER.test(text) ? Number(text) : text
      if (text !== undefined && !compiled.Check(value)) {
        const got = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
        throw new ServiceError(
          'invalid_request',
          `the query parameter ${name} must be ${expected(schema)}, got ${got}`,
        )
      }
      values[name] = value
    }
    return values as QueryValues<Query>
  }
}
