import type { Contract, Operation } from '../contract.ts'
import { useContract } from '../contract-context.tsx'
import { InlineText } from '../inline-text.tsx'
import type { Schema } from '../openapi-document.ts'
import { Heading } from '../page-parts.tsx'
import { href } from '../page-route.ts'
import { CodeBlock } from '../samples/code-block.tsx'
import { exampleOf, resourceIn, typeWords } from '../schema-words.ts'
import { SchemaFields } from './schema-fields.tsx'
import { MethodTag } from './tags.tsx'

export function SchemaPage({ name, schema }: { readonly name: string; readonly schema: Schema }) {
  const contract = useContract()
  const users = operationsWith(contract, name)
  return (
    <article className="prose">
      <p className="eyebrow">Resource</p>
      <Heading level={1}>{name}</Heading>
      {schema.description !== undefined && (
        <p className="lead">
          <InlineText text={schema.description} />
        </p>
      )}
      {schema.enum === undefined ? (
        <SchemaFields schema={schema} label={`Fields of ${name}`} />
      ) : (
        <>
          <p>A {typeWords(schema)}, one of:</p>
          <ul className="cluster">
            {schema.enum.map((choice) => (
              <li key={String(choice)}>
                <code>{String(choice)}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      <CodeBlock title="Example" language="json" code={JSON.stringify(exampleOf(contract, schema))} />
      {users.length > 0 && (
        <section>
          <Heading>Where it is used</Heading>
          <ul className="stack">
            {users.map(({ id, method, path }) => (
              <li key={id}>
                <a href={href({ page: 'operations', id })}>
                  <MethodTag method={method} /> <code>{path}</code>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </article>
  )
}

/** The operations that accept or return the resource, directly or in a field of another resource. */
function operationsWith(contract: Contract, name: string): readonly Operation[] {
  const holders = new Set([name])
  for (const [holder, { properties = {} }] of contract.schemas) {
    if (Object.values(properties).some((part) => resourceIn(part) === name)) holders.add(holder)
  }
  const isHeldBy = (schema: Schema | undefined) =>
    schema !== undefined && holders.has(resourceIn(schema) ?? '')
  return contract.operations.filter(
    ({ body, answers }) =>
      isHeldBy(body) ||
      answers.some(({ schema, events = {} }) => isHeldBy(schema) || Object.values(events).some(isHeldBy)),
  )
}
