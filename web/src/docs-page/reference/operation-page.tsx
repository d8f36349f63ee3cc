import { useState } from 'preact/compat'
import { CopyButton } from '../../shared/copy-button.tsx'
import type { Operation } from '../contract.ts'
import { baseUrlOf, useContract } from '../contract-context.tsx'
import { InlineText } from '../inline-text.tsx'
import { goToPart, Heading, usePart } from '../page-parts.tsx'
import { CodeBlock, CodeTabs } from '../samples/code-block.tsx'
import { startingDraft } from '../samples/request-draft.ts'
import { requestSamples } from '../samples/request-samples.ts'
import { startingBody } from '../schema-words.ts'
import { TryIt } from '../try-it/try-it.tsx'
import { AnswerList } from './answer-list.tsx'
import { FieldList, SchemaFields, TypeLink } from './schema-fields.tsx'
import { MethodTag, OperationBadges, STABILITY_WORDS } from './tags.tsx'

const PLACES = [
  { place: 'path', title: 'Path parameters' },
  { place: 'query', title: 'Query parameters' },
  { place: 'header', title: 'Request headers' },
] as const

export function OperationPage({ operation }: { readonly operation: Operation }) {
  const contract = useContract()
  const [draft, setDraft] = useState(() => startingDraft(contract, operation))
  return (
    <article className="operation">
      <OperationHeader operation={operation} />
      <div className="operation__columns">
        <div className="operation__text">
          <OperationRequest operation={operation} />
          <section aria-label="Answers">
            <Heading>Answers</Heading>
            <AnswerList answers={operation.answers} />
          </section>
        </div>
        <div className="operation__aside">
          <TryIt operation={operation} draft={draft} onDraft={setDraft} />
          <CodeTabs
            label="Request samples"
            samples={requestSamples(contract, operation, draft, baseUrlOf(contract))}
          />
        </div>
      </div>
    </article>
  )
}

function OperationHeader({ operation }: { readonly operation: Operation }) {
  const { method, path, summary, description, stability, isDeprecated } = operation
  const contract = useContract()
  const address = baseUrlOf(contract) + path
  const tryIt = usePart('try-it')
  return (
    <header className="stack">
      <p className="eyebrow">
        {operation.tag} · <code>{operation.id}</code>
      </p>
      <div className="operation__title cluster">
        <Heading level={1} part="title">
          {summary}
        </Heading>
        <OperationBadges operation={operation} />
      </div>
      <div className="cluster">
        <div className="card operation__address cluster">
          <MethodTag method={method} />
          <code>
            <span className="muted">/{contract.versionSegment}</span>
            {path}
          </code>
          <CopyButton text={address} what="the address" />
        </div>
        {/* On a narrow screen, the form is far below. */}
        <button type="button" className="button operation__jump" onClick={() => goToPart(tryIt.id)}>
          Try it
        </button>
      </div>
      {isDeprecated && <Deprecation operation={operation} />}
      <p className="lead">
        <InlineText text={description} />
      </p>
      {!mentions(description, stability) && <p className="muted">{STABILITY_WORDS[stability]}</p>}
    </header>
  )
}

function mentions(description: string, stability: Operation['stability']): boolean {
  return stability === 'stable' || description.toLowerCase().includes(stability)
}

function Deprecation({ operation: { sunset } }: { readonly operation: Operation }) {
  return (
    <div className="notice notice--negative" role="note">
      <strong>Deprecated.</strong>{' '}
      {sunset === undefined ? (
        'It will end. Use the operation that replaces it.'
      ) : (
        <span>
          It ends on{' '}
          <strong>
            <time dateTime={sunset}>{inWords(sunset)}</time>
          </strong>{' '}
          (<code>{sunset}</code>) and returns 410 after that. Every response says so in its{' '}
          <code>Sunset</code> header.
        </span>
      )}
    </div>
  )
}

function OperationRequest({ operation }: { readonly operation: Operation }) {
  const contract = useContract()
  const { parameters, body } = operation
  return (
    <>
      {PLACES.map(({ place, title }) => {
        const fields = parameters
          .filter((each) => each.in === place)
          .map(({ name, schema, description, required }) => ({
            name,
            schema,
            description,
            presence: required === true ? 'required' : 'optional',
          }))
        if (fields.length === 0) return null
        return (
          <section key={place} aria-label={title}>
            <Heading>{title}</Heading>
            <FieldList fields={fields} label={title} />
          </section>
        )
      })}
      {parameters.length === 0 && body === undefined && <p className="muted">No parameters; only the key.</p>}
      {body !== undefined && (
        <section aria-label="Request body">
          <Heading>Request body</Heading>
          <p className="muted">
            <code>application/json</code> <TypeLink schema={body.schema} /> {body.isRequired && 'required'}
          </p>
          <p className="muted">
            <InlineText text={contract.resolve(body.schema).description ?? ''} />
          </p>
          <SchemaFields schema={body.schema} label="Fields of the request body" />
          <CodeBlock title="Example body" language="json" code={startingBody(contract, operation)} />
        </section>
      )}
    </>
  )
}

function inWords(date: string): string {
  return new Date(`${date}T00:00:00Z`).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
}
