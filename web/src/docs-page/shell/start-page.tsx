import type { OperationGroup } from '../contract.ts'
import { baseUrl, useContract } from '../contract-context.tsx'
import { GUIDES } from '../guides/guide-list.ts'
import { InlineText } from '../inline-text.tsx'
import { Heading } from '../page-parts.tsx'
import { href } from '../page-route.ts'
import { MethodTag, OperationBadges } from '../reference/tags.tsx'
import { CodeBlock } from '../samples/code-block.tsx'

export function StartPage() {
  const { document, groups } = useContract()
  const { title, version, description } = document.info
  return (
    <article className="prose prose--wide">
      <p className="eyebrow">API version {version}</p>
      <Heading level={1}>{title}</Heading>
      <p className="lead">
        <InlineText text={description} />
      </p>
      <Heading>The first request</Heading>
      <p>
        The operator of the service creates your key with <code>petstore keys create</code>. A demo store
        shows its keys when it starts. Send the key with every request:
      </p>
      <CodeBlock
        title="List the stock"
        language="shell"
        code={`curl '${baseUrl()}/inventory' \\\n  -H 'Authorization: Bearer YOUR_API_KEY'`}
      />
      <p>
        Or enter the key on the page of any operation and press <em>Send</em>.
      </p>
      <Heading>Guides</Heading>
      <ul className="card operation-table">
        {GUIDES.map(({ id, title: name, summary }) => (
          <li key={id}>
            <a
              className="operation-table__row operation-table__row--guide"
              href={href({ page: 'guides', id })}
            >
              <strong>{name}</strong>
              <span className="muted">{summary}</span>
            </a>
          </li>
        ))}
      </ul>
      <Heading>Operations</Heading>
      {groups.map((group) => (
        <OperationTable key={group.tag} group={group} />
      ))}
      <Heading>Addresses</Heading>
      <dl className="header-list">
        {[{ url: baseUrl(), description: 'This service' }, ...document.servers].map((server) => (
          <div key={server.description} className="header-list__row">
            <dt>{server.description}</dt>
            <dd>{server.url}</dd>
          </div>
        ))}
      </dl>
      <p>
        The contract is <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1), for generators and other
        tools.
      </p>
    </article>
  )
}

function OperationTable({ group: { tag, description, operations } }: { readonly group: OperationGroup }) {
  return (
    <section>
      <Heading level={3} className="operation-table__title" part={`operations-${tag}`} note={description}>
        {tag}
      </Heading>
      <ul className="card operation-table">
        {operations.map((operation) => (
          <li key={operation.id}>
            <a className="operation-table__row" href={href({ page: 'operations', id: operation.id })}>
              <MethodTag method={operation.method} />
              <code className="operation-table__path">{operation.path}</code>
              <span className="operation-table__summary muted">{operation.summary}</span>
              <span className="cluster">
                <OperationBadges operation={operation} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
