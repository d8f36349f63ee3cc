import { useContract } from '../contract-context.tsx'
import { InlineText } from '../inline-text.tsx'
import type { Schema } from '../openapi-document.ts'
import { href } from '../page-route.ts'
import { boundsWords, choicesOf, resourceIn, typeWords } from '../schema-words.ts'

interface FieldFacts {
  readonly name: string
  readonly schema: Schema
  readonly description?: string
  readonly required: boolean
}

interface FieldListProps {
  readonly fields: readonly FieldFacts[]
  readonly label: string
  /** The words for a field that is required, and for one that is not. */
  readonly presence?: readonly [string, string]
}

/** Parameters, headers or the fields of a resource, with types, bounds and descriptions. */
export function FieldList({ fields, label, presence = ['required', 'optional'] }: FieldListProps) {
  return (
    <ul className="field-list" aria-label={label}>
      {fields.map((field) => (
        <FieldRow key={field.name} {...field} presence={presence[field.required ? 0 : 1]} />
      ))}
    </ul>
  )
}

function FieldRow({ name, schema, description, presence }: FieldFacts & { readonly presence: string }) {
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
        <span className={presence === 'required' ? 'caution small' : 'muted small'}>{presence}</span>
      </div>
      {text !== undefined && (
        <p className="field-row__text">
          <InlineText text={text} />
        </p>
      )}
      {bounds.length > 0 && <p className="muted small number">{bounds.join(' · ')}</p>}
      {choices.length > 0 && (
        <p className="muted small">
          One of {choices.map((choice, index) => [index > 0 && ' ', <code key={choice}>{choice}</code>])}
        </p>
      )}
      {schema.properties !== undefined && <SchemaFields schema={schema} label={`Fields of ${name}`} />}
    </li>
  )
}

export function TypeLink({ schema }: { readonly schema: Schema }) {
  const name = resourceIn(schema)
  const words = typeWords(schema)
  if (name === undefined) return words
  return (
    <>
      {words.slice(0, words.length - name.length)}
      <a href={href({ page: 'schemas', id: name })}>{name}</a>
    </>
  )
}

/** The fields of a schema, of the schema that it refers to, or of the items of an array. */
export function SchemaFields({ schema, label }: { readonly schema: Schema; readonly label: string }) {
  const contract = useContract()
  const resolved = contract.resolve(schema.items ?? schema)
  const fields = Object.entries(resolved.properties ?? {}).map(([name, part]) => ({
    name,
    schema: part,
    required: resolved.required?.includes(name) === true,
  }))
  return fields.length === 0 ? null : <FieldList fields={fields} label={label} />
}
