import type { Contract, Operation } from './contract.ts'
import { nameOf } from './contract.ts'
import type { Parameter, Schema } from './openapi-document.ts'

const EXAMPLE_TIME = '2026-11-15T12:00:00.000Z'

/** A value that the schema allows: its own example where it has one, else one made of its parts. */
export function exampleOf(contract: Contract, schema: Schema): unknown {
  const resolved = contract.resolve(schema)
  if (resolved.examples?.[0] !== undefined) return resolved.examples[0]
  if (resolved.default !== undefined) return resolved.default
  if (resolved.enum?.[0] !== undefined) return resolved.enum[0]
  if (resolved.properties !== undefined) {
    const parts = Object.entries(resolved.properties)
    return Object.fromEntries(parts.map(([name, part]) => [name, namedExample(contract, name, part)]))
  }
  if (resolved.items !== undefined) return [exampleOf(contract, resolved.items)]
  if (resolved.type === 'integer' || resolved.type === 'number') return Math.max(1, resolved.minimum ?? 1)
  if (resolved.type === 'boolean') return true
  return resolved.format === 'date-time' ? EXAMPLE_TIME : ''
}

/** Other resources have examples of many fields: a `keyId` looks the same wherever it stands. */
function namedExample(contract: Contract, name: string, schema: Schema): unknown {
  const borrowed = nameOf(schema) === undefined ? borrowedExample(contract, name, schema) : undefined
  return borrowed ?? exampleOf(contract, schema)
}

function borrowedExample(contract: Contract, name: string, schema: Schema): unknown {
  for (const { properties, examples } of contract.schemas.values()) {
    if (properties?.[name]?.type !== schema.type) continue
    const example = examples?.[0]
    if (typeof example === 'object' && example !== null && name in example) {
      return (example as Readonly<Record<string, unknown>>)[name]
    }
  }
  return undefined
}

/** What a field of the request begins with: only what has to be given is filled in. */
export function startingValue(contract: Contract, { name, required, schema }: Parameter): string {
  return required === true ? String(namedExample(contract, name, schema)) : ''
}

export function startingBody(contract: Contract, { body }: Operation): string {
  return body === undefined ? '' : JSON.stringify(exampleOf(contract, body.schema), null, 2)
}
