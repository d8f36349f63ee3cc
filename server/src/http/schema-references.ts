import type { TSchema } from 'typebox'

export function titleOf(schema: TSchema): string | undefined {
  return (schema as { title?: string }).title
}

/** Plain JSON Schema in which every named resource inside the schema is a reference to it. */
export function withReferences(schema: TSchema, isDefinition = false): unknown {
  const title = titleOf(schema)
  if (!isDefinition && title !== undefined) return { $ref: `#/components/schemas/${title}` }
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === 'items') return [keyword, withReferences(value as TSchema)]
      if (keyword !== 'properties') return [keyword, value]
      const properties = Object.entries(value as Record<string, TSchema>)
      return [keyword, Object.fromEntries(properties.map(([name, part]) => [name, withReferences(part)]))]
    }),
  )
}

/** The content of a body that is JSON. */
export function json(schema: TSchema) {
  return { 'application/json': { schema: withReferences(schema) } }
}
