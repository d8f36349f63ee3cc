import { useState } from 'react'
import { CopyButton } from '../../shared/copy-button.tsx'
import type { Operation } from '../contract.ts'
import { baseUrlOf, useContract } from '../contract-context.tsx'
import { InlineText } from '../inline-text.tsx'
import { goToPart, Heading, usePart } from '../page-parts.tsx'
import { CodeBlock } from '../samples/code-block.tsx'
import { startingDraft } from '../samples/request-draft.ts'
import { SampleTabs } from '../samples/sample-tabs.tsx'
import { startingBody } from '../schema-example.ts'
import { TryIt } from '../try-it/try-it.tsx'
import { AnswerList } from './answer-list.tsx'
import { MethodTag, OperationBadges, STABILITY_WORDS } from './operation-badges.tsx'
import { FieldList, SchemaFields, TypeLink } from './schema-fields.tsx'

const PLACES = [
  { place: 'path', title: 'Path parameters' },
  { place: 'query', title: 'Query parameters' },
  { place: 'header', title: 'Request headers' },
] as const

/** One operation: what it takes and answers on the left, samples and a try on the right. */
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
          <SampleTabs operation={operation} draft={draft} />
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
    <header className="operation__header">
      <p className="eyebrow">
        {operation.tag} · <code>{operation.id}</code>
      </p>
      <div className="operation__title">
        <Heading level={1} part="title">
          {summary}
        </Heading>
        <OperationBadges operation={operation} />
      </div>
      <div className="operation__bar">
        <div className="operation__address">
          <MethodTag method={method} />
          <code>
            <span className="muted">/{contract.versionSegment}</span>
            {path}
          </code>
          <CopyButton text={address} what="the address" />
        </div>
        {/* Where both stand below each other, the try is far down. */}
        <button type="button" className="button operation__jump" onClick={() => goToPart(tryIt.id)}>
          Try it
        </button>
      </div>
      {isDeprecated && <Deprecation operation={operation} />}
      <p className="lead">
        <InlineText text={description} />
      </p>
      {!isToldIn(description, stability) && <p className="muted">{STABILITY_WORDS[stability]}</p>}
    </header>
  )
}

function isToldIn(description: string, stability: Operation['stability']): boolean {
  return stability === 'stable' || description.toLowerCase().includes(stability)
}

function Deprecation({ operation: { sunset } }: { readonly operation: Operation }) {
  return (
    <div className="notice notice--negative operation__deprecation" role="note">
      <strong>Deprecated.</strong>{' '}
      {sunset === undefined ? (
        'It will end; use what takes its place.'
      ) : (
        <span>
          It ends on{' '}
          <strong>
            <time dateTime={sunset}>{inWords(sunset)}</time>
          </strong>{' '}
          (<code>{sunset}</code>) and answers 410 from then on. Every answer says so in its{' '}
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
      {parameters.length === 0 && body === undefined && (
        <p className="muted">It takes no parameters; only the key, as every operation does.</p>
      )}
      {body !== undefined && (
        <section aria-label="Request body">
          <Heading>Request body</Heading>
          <p className="answer__media">
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
