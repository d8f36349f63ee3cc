import { type Contract, nameOf, type Operation } from './contract.ts'
import type { Parameter, Schema } from './openapi-document.ts'

/** The type as text, such as `integer (int64)` or `array of Pet`. */
export function typeWords(schema: Schema): string {
  const name = nameOf(schema)
  if (name !== undefined) return name
  if (schema.items !== undefined) return `array of ${typeWords(schema.items)}`
  const base = [schema.type ?? 'anything'].flat().join(' or ')
  return schema.format === undefined ? base : `${base} (${schema.format})`
}

/** The name of the resource that the schema is, or is an array of. */
export function resourceIn(schema: Schema): string | undefined {
  return nameOf(schema) ?? (schema.items === undefined ? undefined : resourceIn(schema.items))
}

/** Bounds and the default, each a short phrase. */
export function boundsWords(schema: Schema): readonly string[] {
  const { minimum, maximum, minLength, maxLength, pattern, default: preset } = schema
  const words: string[] = []
  if (minimum !== undefined && maximum !== undefined) words.push(`${digits(minimum)} to ${digits(maximum)}`)
  else if (minimum !== undefined) words.push(`${digits(minimum)} or more`)
  else if (maximum !== undefined) words.push(`${digits(maximum)} or less`)
  if (minLength === 1 && maxLength === undefined) words.push('not empty')
  else if (minLength !== undefined) words.push(`at least ${minLength} characters`)
  if (maxLength !== undefined) words.push(`at most ${maxLength} characters`)
  if (pattern !== undefined) words.push(`matches ${pattern}`)
  if (preset !== undefined) words.push(`${JSON.stringify(preset)} by default`)
  return words
}

/** The values of an enumeration, by reference or in place. */
export function choicesOf(contract: Contract, schema: Schema): readonly string[] {
  return (contract.resolve(schema).enum ?? []).map(String)
}

function digits(value: number): string {
  return value.toLocaleString('en-US')
}

const EXAMPLE_TIME = '2026-11-15T12:00:00.000Z'

/** A value that the schema allows: its own example, or one composed of the examples of its parts. */
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

/** Prefers the example that a resource has for a field of this name and type. */
function namedExample(contract: Contract, name: string, schema: Schema): unknown {
  if (nameOf(schema) !== undefined) return exampleOf(contract, schema)
  const examples = [...contract.schemas.values()]
    .filter(({ properties }) => properties?.[name]?.type === schema.type)
    // The example of a resource with properties is an object.
    .map((resource) => (resource.examples?.[0] as Readonly<Record<string, unknown>> | undefined)?.[name])
  return examples.find((example) => example !== undefined) ?? exampleOf(contract, schema)
}

/** Only required parameters have an initial value. */
export function startingValue(contract: Contract, { name, required, schema }: Parameter): string {
  return required ? String(namedExample(contract, name, schema)) : ''
}

export function startingBody(contract: Contract, { body, csvExample = '' }: Operation): string {
  return body === undefined ? csvExample : JSON.stringify(exampleOf(contract, body), null, 2)
}
