import type { Answer } from '../contract.ts'
import { useContract } from '../contract-context.tsx'
import { InlineText } from '../inline-text.tsx'
import type { Schema } from '../openapi-document.ts'
import { usePart } from '../page-parts.tsx'
import { href } from '../page-route.ts'
import { CodeBlock } from '../samples/code-block.tsx'
import { exampleOf } from '../schema-words.ts'
import { FieldList, SchemaFields, TypeLink } from './schema-fields.tsx'
import { StatusTag, statusPhrase } from './tags.tsx'

/** The responses of an operation. The first one, the success, is open. */
export function AnswerList({ answers }: { readonly answers: readonly Answer[] }) {
  return (
    <div className="card">
      {answers.map((answer, index) => (
        <AnswerPart key={answer.status} answer={answer} isOpen={index === 0} />
      ))}
    </div>
  )
}

function AnswerPart({ answer, isOpen }: { readonly answer: Answer; readonly isOpen: boolean }) {
  const { status, description, codes, headers, schema, events } = answer
  return (
    <details {...usePart(String(status))} className="answer" open={isOpen}>
      <summary className="answer__summary cluster">
        <StatusTag status={status} />
        <span className="answer__phrase">{statusPhrase(status)}</span>
        <span className="answer__codes cluster muted small">
          {codes.map(({ code }) => (
            <code key={code}>{code}</code>
          ))}
        </span>
      </summary>
      <div className="answer__body stack">
        {codes.length === 0 ? (
          <p>
            <InlineText text={description} />
          </p>
        ) : (
          <CodeMeanings codes={codes} />
        )}
        {events !== undefined && <EventKinds events={events} />}
        {schema !== undefined && events === undefined && <AnswerBody answer={answer} schema={schema} />}
        <details className="answer__headers">
          <summary>Headers ({headers.length})</summary>
          <FieldList
            label={`Headers of the ${status} answer`}
            fields={headers}
            presence={['always', 'sometimes']}
          />
        </details>
      </div>
    </details>
  )
}

function CodeMeanings({ codes }: Pick<Answer, 'codes'>) {
  return (
    <ul className="stack">
      {codes.map(({ code, when }) => (
        <li key={code}>
          <a href={href({ page: 'guides', id: 'errors' }, code)}>
            <code>{code}</code>
          </a>{' '}
          <InlineText text={when} />
        </li>
      ))}
    </ul>
  )
}

function AnswerBody({ answer, schema }: { readonly answer: Answer; readonly schema: Schema }) {
  const contract = useContract()
  const { status, mediaType, codes } = answer
  const [error] = codes
  const example =
    error === undefined ? exampleOf(contract, schema) : { code: error.code, message: error.when, status }
  return (
    <>
      <p className="muted">
        <code>{mediaType}</code> <TypeLink schema={schema} />
      </p>
      {error === undefined && <SchemaFields schema={schema} label={`Fields of the ${status} answer`} />}
      <CodeBlock title={`Example of ${status}`} language="json" code={JSON.stringify(example)} />
    </>
  )
}

function EventKinds({ events }: { readonly events: Readonly<Record<string, Schema>> }) {
  const contract = useContract()
  const kinds = Object.entries(events)
  const frames = kinds.map(
    ([name, schema], index) =>
      `event: ${name}\nid: ${index + 1}\ndata: ${JSON.stringify(exampleOf(contract, schema))}`,
  )
  return (
    <>
      <p className="muted">
        <code>text/event-stream</code> kinds of events:
      </p>
      <ul className="stack">
        {kinds.map(([name, schema]) => (
          <li key={name}>
            <code>{name}</code> {schema.$ref !== undefined && <TypeLink schema={schema} />}
          </li>
        ))}
      </ul>
      <CodeBlock title="One event of each kind" language="http" code={frames.join('\n\n')} />
    </>
  )
}
