import { type Contract, nameOf } from './contract.ts'
import type { Schema } from './openapi-document.ts'

/** The type as a reader would say it: `integer (int64)`, `array of Pet`. */
export function typeWords(schema: Schema): string {
  const name = nameOf(schema)
  if (name !== undefined) return name
  if (schema.items !== undefined) return `array of ${typeWords(schema.items)}`
  const types = schema.type === undefined ? [] : [schema.type].flat()
  const base = types.join(' or ') || 'anything'
  return schema.format === undefined ? base : `${base} (${schema.format})`
}

/** The name of the resource that is in it, alone or in an array. */
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
