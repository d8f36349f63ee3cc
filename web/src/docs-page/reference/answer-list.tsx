import { type Answer, codesOf } from '../contract.ts'
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
      {answers.map((answer, place) => (
        <AnswerPart key={answer.status} answer={answer} isOpen={place === 0} />
      ))}
    </div>
  )
}

function AnswerPart({ answer, isOpen }: { readonly answer: Answer; readonly isOpen: boolean }) {
  const { status } = answer
  return (
    <details {...usePart(String(status))} className="answer" open={isOpen}>
      <summary className="answer__summary cluster">
        <StatusTag status={status} />
        <span className="answer__phrase">{statusPhrase(status)}</span>
        <span className="answer__codes cluster muted small">
          {codesOf(answer).map(({ code }) => (
            <code key={code}>{code}</code>
          ))}
        </span>
      </summary>
      <div className="answer__body stack">
        <AnswerDetails answer={answer} />
      </div>
    </details>
  )
}

function AnswerDetails({ answer }: { readonly answer: Answer }) {
  const { status, schema, headers, events, mediaType } = answer
  const isError = codesOf(answer).length > 0
  return (
    <>
      <AnswerWords answer={answer} />
      {events !== undefined && <EventKinds events={events} />}
      {schema !== undefined && events === undefined && (
        <>
          <p className="muted">
            <code>{mediaType}</code> <TypeLink schema={schema} />
          </p>
          {!isError && <SchemaFields schema={schema} label={`Fields of the ${status} answer`} />}
          <ExampleBody answer={answer} />
        </>
      )}
      <details className="answer__headers">
        <summary>Headers ({headers.length})</summary>
        <FieldList
          label={`Headers of the ${status} answer`}
          fields={headers.map(({ name, description, schema: type, isRequired }) => ({
            name,
            description,
            schema: type,
            presence: isRequired ? 'always' : 'sometimes',
          }))}
        />
      </details>
    </>
  )
}

function AnswerWords({ answer }: { readonly answer: Answer }) {
  const codes = codesOf(answer)
  if (codes.length === 0)
    return (
      <p>
        <InlineText text={answer.description} />
      </p>
    )
  return (
    <ul className="stack">
      {codes.map(({ code, when }) => (
        <li key={code}>
          <a href={href({ page: 'guide', id: 'errors' }, code)}>
            <code>{code}</code>
          </a>{' '}
          <InlineText text={when} />
        </li>
      ))}
    </ul>
  )
}

function ExampleBody({ answer }: { readonly answer: Answer }) {
  const contract = useContract()
  if (answer.schema === undefined) return null
  const [first] = codesOf(answer)
  const value =
    first === undefined
      ? exampleOf(contract, answer.schema)
      : { code: first.code, message: first.when, status: answer.status }
  return <CodeBlock title={`Example of ${answer.status}`} language="json" code={JSON.stringify(value)} />
}

function EventKinds({ events }: { readonly events: ReadonlyMap<string, Schema> }) {
  const contract = useContract()
  const frames = [...events].map(
    ([name, schema], index) =>
      `event: ${name}\nid: ${index + 1}\ndata: ${JSON.stringify(exampleOf(contract, schema))}`,
  )
  return (
    <>
      <p className="muted">
        <code>text/event-stream</code> kinds of events:
      </p>
      <ul className="stack">
        {[...events].map(([name, schema]) => (
          <li key={name}>
            <code>{name}</code> {schema.$ref !== undefined && <TypeLink schema={schema} />}
          </li>
        ))}
      </ul>
      <CodeBlock title="One event of each kind" language="http" code={frames.join('\n\n')} />
    </>
  )
}
