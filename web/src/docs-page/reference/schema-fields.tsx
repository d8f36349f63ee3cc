import type { ReactNode } from 'preact/compat'
import { useContract } from '../contract-context.tsx'
import { InlineText } from '../inline-text.tsx'
import type { Schema } from '../openapi-document.ts'
import { href } from '../page-route.ts'
import { boundsWords, choicesOf, resourceIn, typeWords } from '../schema-words.ts'

interface FieldFacts {
  readonly name: string
  readonly schema: Schema
  readonly description?: string | undefined
  /** Such as "required" or "optional". */
  readonly presence?: string
}

/** Parameters, headers or the fields of a resource, with types, bounds and descriptions. */
export function FieldList({
  fields,
  label,
}: {
  readonly fields: readonly FieldFacts[]
  readonly label: string
}) {
  return (
    <ul className="field-list" aria-label={label}>
      {fields.map((field) => (
        <FieldRow key={field.name} {...field} />
      ))}
    </ul>
  )
}

function FieldRow({ name, schema, description, presence }: FieldFacts) {
  const contract = useContract()
  const text = description ?? schema.description ?? contract.resolve(schema).description
  const choices = choicesOf(contract, schema)
  const bounds = boundsWords(schema)
  return (
    <li className="field-row">
      <div className="field-row__head">
        <code className="field-row__name">{name}</code>
        <span className="muted small">
          <TypeLink schema={schema} />
        </span>
        {presence === 'required' ? (
          <span className="caution small">required</span>
        ) : (
          presence !== undefined && <span className="muted small">{presence}</span>
        )}
      </div>
      {text !== undefined && (
        <p className="field-row__text">
          <InlineText text={text} />
        </p>
      )}
      {bounds.length > 0 && <p className="muted small number">{bounds.join(' · ')}</p>}
      {choices.length > 0 && (
        <p className="muted small">
          One of <Choices of={choices} />
        </p>
      )}
      {schema.properties !== undefined && <SchemaFields schema={schema} label={`Fields of ${name}`} />}
    </li>
  )
}

function Choices({ of }: { readonly of: readonly string[] }) {
  return of.map((choice, place): ReactNode => [place > 0 && ' ', <code key={choice}>{choice}</code>])
}

/** The type as text, with a link to its resource. */
export function TypeLink({ schema }: { readonly schema: Schema }) {
  const name = resourceIn(schema)
  const words = typeWords(schema)
  if (name === undefined) return words
  return (
    <>
      {words.slice(0, words.length - name.length)}
      <a href={href({ page: 'schema', id: name })}>{name}</a>
    </>
  )
}

/** The fields of a schema, of the schema that it refers to, or of the items of an array. */
export function SchemaFields({ schema, label }: { readonly schema: Schema; readonly label: string }) {
  const contract = useContract()
  const resolved = contract.resolve(schema.items ?? schema)
  const properties = Object.entries(resolved.properties ?? {})
  if (properties.length === 0) return null
  const fields = properties.map(([name, part]) => ({
    name,
    schema: part,
    presence: resolved.required?.includes(name) === true ? 'required' : 'optional',
  }))
  return <FieldList fields={fields} label={label} />
}
