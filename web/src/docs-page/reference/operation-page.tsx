import { useState } from 'preact/compat'
import { CopyButton } from '../../shared/copy-button.tsx'
import type { Operation } from '../contract.ts'
import { BASE_PATH, baseUrl, useContract } from '../contract-context.tsx'
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
          <CodeTabs label="Request samples" samples={requestSamples(contract, operation, draft, baseUrl())} />
        </div>
      </div>
    </article>
  )
}

function OperationHeader({ operation }: { readonly operation: Operation }) {
  const { method, path, summary, description, stability, sunset } = operation
  const isStabilityMentioned = stability === 'stable' || description.toLowerCase().includes(stability)
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
            <span className="muted">{BASE_PATH}</span>
            {path}
          </code>
          <CopyButton text={baseUrl() + path} what="the address" />
        </div>
        {/* On a narrow screen, the form is far below. */}
        <button type="button" className="button operation__jump" onClick={() => goToPart(tryIt.id)}>
          Try it
        </button>
      </div>
      {sunset !== undefined && <Deprecation sunset={sunset} />}
      <p className="lead">
        <InlineText text={description} />
      </p>
      {!isStabilityMentioned && <p className="muted">{STABILITY_WORDS[stability]}</p>}
    </header>
  )
}

function Deprecation({ sunset }: { readonly sunset: string }) {
  const day = new Date(sunset).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
  return (
    <div className="notice notice--negative" role="note">
      <strong>Deprecated.</strong>{' '}
      <span>
        It ends on{' '}
        <strong>
          <time dateTime={sunset}>{day}</time>
        </strong>{' '}
        (<code>{sunset}</code>) and returns 410 after that. Every response says so in its <code>Sunset</code>{' '}
        header.
      </span>
    </div>
  )
}

function OperationRequest({ operation }: { readonly operation: Operation }) {
  const contract = useContract()
  const { parameters, body, csvExample } = operation
  return (
    <>
      {PLACES.map(({ place, title }) => {
        const fields = parameters.filter((each) => each.in === place)
        if (fields.length === 0) return null
        return (
          <section key={place} aria-label={title}>
            <Heading>{title}</Heading>
            <FieldList fields={fields} label={title} />
          </section>
        )
      })}
      {csvExample !== undefined && (
        <section aria-label="Request body">
          <Heading>Request body</Heading>
          <p className="muted">
            <code>text/csv</code> required
          </p>
          <CodeBlock title="Example body" language="http" code={csvExample} />
        </section>
      )}
      {parameters.length === 0 && body === undefined && csvExample === undefined && (
        <p className="muted">No parameters; only the key.</p>
      )}
      {body !== undefined && (
        <section aria-label="Request body">
          <Heading>Request body</Heading>
          <p className="muted">
            <code>application/json</code> <TypeLink schema={body} /> required
          </p>
          <p className="muted">
            <InlineText text={contract.resolve(body).description ?? ''} />
          </p>
          <SchemaFields schema={body} label="Fields of the request body" />
          <CodeBlock title="Example body" language="json" code={startingBody(contract, operation)} />
        </section>
      )}
    </>
  )
}
