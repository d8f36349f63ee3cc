import { type Contract, nameOf, type Operation, type Parameter, type Schema } from './contract.ts'

type Body = NonNullable<Operation['body']>

/** The type as text, such as `integer (int64)` or `array of Pet`. */
export function typeText(schema: Schema): string {
  const name = nameOf(schema)
  if (name !== undefined) return name
  if (schema.items !== undefined) return `array of ${typeText(schema.items)}`
  const base = [schema.type ?? 'anything'].flat().join(' or ')
  return schema.format === undefined ? base : `${base} (${schema.format})`
}

/** Bounds and the default, each a short phrase. */
export function boundsOf(schema: Schema): readonly string[] {
  const { minimum, maximum, minLength, maxLength, pattern, default: preset } = schema
  const digits = (value: number) => value.toLocaleString('en-US')
  const phrases: string[] = []
  if (minimum !== undefined && maximum !== undefined) phrases.push(`${digits(minimum)} to ${digits(maximum)}`)
  else if (minimum !== undefined) phrases.push(`${digits(minimum)} or more`)
  else if (maximum !== undefined) phrases.push(`${digits(maximum)} or less`)
  if (minLength === 1) phrases.push('not empty')
  else if (minLength !== undefined) phrases.push(`at least ${minLength} characters`)
  if (maxLength !== undefined) phrases.push(`at most ${maxLength} characters`)
  if (pattern !== undefined) phrases.push(`matches ${pattern}`)
  if (preset !== undefined) phrases.push(`${JSON.stringify(preset)} by default`)
  return phrases
}

export interface Field {
  /** With the names of the fields around it, such as `changes.petId`. */
  readonly path: string
  readonly schema: Schema
  readonly description: string | undefined
  readonly required: boolean
}

/** The fields of an object; with `isDeep`, also those of the objects in it. */
export function fieldsOf(contract: Contract, schema: Schema, isDeep: boolean, prefix = ''): readonly Field[] {
  const { properties = {}, required = [] } = contract.resolve(schema.items ?? schema)
  return Object.entries(properties).flatMap(([name, part]) => {
    const path = prefix + name
    const description = part.description ?? contract.resolve(part).description
    const field: Field = { path, schema: part, description, required: required.includes(name) }
    const isOpen = isDeep || part.properties !== undefined
    return [field, ...(isOpen ? fieldsOf(contract, part, isDeep, `${path}.`) : [])]
  })
}

/** A value that the schema allows: its own example, or one composed of the examples of its parts. */
export function exampleOf(contract: Contract, schema: Schema): unknown {
  const { type, format, properties, items, minimum = 1, ...resolved } = contract.resolve(schema)
  const given = resolved.examples?.[0] ?? resolved.default ?? resolved.enum?.[0]
  if (given !== undefined) return given
  if (properties !== undefined) {
    const parts = Object.entries(properties)
    return Object.fromEntries(parts.map(([name, part]) => [name, namedExample(contract, name, part)]))
  }
  if (items !== undefined) return [exampleOf(contract, items)]
  if (type === 'integer' || type === 'number') return Math.max(1, minimum)
  if (type === 'boolean') return true
  return format === 'date-time' ? '2026-11-15T12:00:00.000Z' : ''
}

/** The text of a body, with indented JSON. */
export function exampleOfBody(contract: Contract, body: Body, indent = 0): string {
  const value = exampleValueOfBody(contract, body)
  return body.type === 'application/json' ? JSON.stringify(value, null, indent) : String(value)
}

export function exampleValueOfBody(contract: Contract, { schema, example }: Body): unknown {
  return example ?? exampleOf(contract, schema)
}

/** Prefers the example that a record has for a field of this name and type. */
function namedExample(contract: Contract, name: string, schema: Schema): unknown {
  if (nameOf(schema) !== undefined) return exampleOf(contract, schema)
  const examples = Object.values(contract.document.components.schemas)
    .filter(({ properties }) => properties?.[name]?.type === schema.type)
    // The example of a record with properties is an object.
    .map((record) => (record.examples?.[0] as Readonly<Record<string, unknown>> | undefined)?.[name])
  return examples.find((example) => example !== undefined) ?? exampleOf(contract, schema)
}

/** Only required parameters have an example. */
export function exampleOfParameter(contract: Contract, { name, required, schema }: Parameter): string {
  return required ? String(namedExample(contract, name, schema)) : ''
}
