import { useId } from 'preact/compat'
import type { Operation } from '../contract.ts'
import { useContract } from '../contract-context.tsx'
import type { Parameter } from '../openapi-document.ts'
import { formatJson } from '../samples/json-text.ts'
import { bodyMediaType, fieldId, type RequestDraft } from '../samples/request-draft.ts'
import { boundsWords, choicesOf } from '../schema-words.ts'

export interface RequestFieldsProps {
  readonly operation: Operation
  readonly draft: RequestDraft
  readonly onDraft: (draft: RequestDraft) => void
}

/** Nothing is validated here, so that readers can try errors too. */
export function RequestFields({ operation, draft, onDraft }: RequestFieldsProps) {
  const mediaType = bodyMediaType(operation)
  return (
    <>
      {operation.parameters.map((parameter) => {
        const field = fieldId(parameter)
        return (
          <ParameterField
            key={field}
            parameter={parameter}
            value={draft.values[field] ?? ''}
            onValue={(value) => onDraft({ ...draft, values: { ...draft.values, [field]: value } })}
          />
        )
      })}
      {mediaType !== undefined && (
        <BodyField mediaType={mediaType} value={draft.body} onValue={(body) => onDraft({ ...draft, body })} />
      )}
    </>
  )
}

interface FieldProps {
  readonly value: string
  readonly onValue: (value: string) => void
}

function ParameterField({ parameter, value, onValue }: FieldProps & { readonly parameter: Parameter }) {
  const id = useId()
  const contract = useContract()
  const { name, in: place, required, schema } = parameter
  const choices = choicesOf(contract, schema)
  return (
    <div className="try-field">
      <label className="small" htmlFor={id}>
        <code>{name}</code> <span className="muted">{place}</span>
      </label>
      {choices.length > 0 ? (
        <select
          id={id}
          className="select"
          value={value}
          onChange={({ currentTarget }) => onValue(currentTarget.value)}
        >
          {!required && <option value="">not sent</option>}
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          className="input try-field__input"
          value={value}
          // An empty value would give the path of another operation.
          required={place === 'path'}
          placeholder={schema.default === undefined ? 'not sent' : boundsWords(schema).join(' · ')}
          inputMode={schema.type === 'integer' ? 'numeric' : 'text'}
          autoComplete="off"
          spellcheck={false}
          onChange={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </div>
  )
}

function BodyField({ mediaType, value, onValue }: FieldProps & { readonly mediaType: string }) {
  const id = useId()
  const isValid = mediaType !== 'application/json' || formatJson(value) !== undefined
  return (
    <div className="field">
      <label className="small" htmlFor={id}>
        Body <span className="muted">{mediaType}</span>
      </label>
      <textarea
        id={id}
        className="textarea"
        rows={Math.min(12, value.split('\n').length + 1)}
        value={value}
        spellcheck={false}
        aria-describedby={`${id}-hint`}
        onChange={({ currentTarget }) => onValue(currentTarget.value)}
      />
      <p id={`${id}-hint`} className="muted small" aria-live="polite">
        {isValid ? '' : 'This is not JSON yet. You can send it to see the error.'}
      </p>
    </div>
  )
}
