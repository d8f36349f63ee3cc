import { baseUrlOf, useContract } from '../contract-context.tsx'
import { Heading } from '../page-parts.tsx'
import { href } from '../page-route.ts'
import { clientMethod } from '../samples/client-sample.ts'
import { CodeBlock } from '../samples/code-block.tsx'
import type { Guide } from './guide.ts'

export const clientGuide: Guide = {
  id: 'typescript-client',
  title: 'The TypeScript client',
  summary:
    'A client without dependencies for Node, Bun and browsers with exact ids, retries and rate limiting.',
  keywords: 'typescript client sdk javascript node bun browser petstoreclient pace retry adjust order bigint',
  Body,
}

const ADJUST = `await client.inventory.sell({ petId: 16, quantity: 3 }, { reference: 'receipt 17' })
await client.inventory.receive(
  [
    { petId: 1, quantity: 12 },
    { petId: 2, quantity: 30 },
  ],
  { reference: 'PO-1043' },
)
await client.inventory.count({ petId: 1, quantity: 15, expected: 16 })

const [item] = await client.inventory.adjust({
  reason: 'damaged',
  changes: [{ petId: 2, delta: -1 }],
})
console.log(item.quantity)`

const ORDER = `try {
  const order = await client.orders.create({ petId: 1, quantity: 1, holdSeconds: 900 })
  await client.orders.complete(order.id)
} catch (error) {
  if (error instanceof InsufficientStockError) console.log(\`only \${error.available} are left\`)
  else if (error instanceof OrderClosedError) console.log(\`the order is \${error.state}\`)
  else throw error
}`

const SET = `const seen = await client.inventory.get(2)
await client.inventory.set(2, { quantity: 10 }, { ifMatch: seen.etag })`

const FAILURES = `try {
  await client.inventory.set(404, { quantity: 1 })
} catch (error) {
  if (!isPetstoreError(error, 'not_found')) throw error
  console.log(error.message)
}`

const LISTS = `const page = await client.pets.list({ status: 'pending', limit: 2 })
console.log(page.items)
const next = await client.pets.list({ status: 'pending', limit: 2, cursor: page.next })

for await (const pet of client.pets.list()) console.log(pet.name)`

function Body() {
  const contract = useContract()
  return (
    <>
      <p>
        <code>@petstore/client</code> is in the folder <code>client/</code> of the repository; its README
        describes it completely. It runs in Node 20 and later, in Bun, in browsers and in edge runtimes.
      </p>
      <CodeBlock
        title="Begin"
        language="typescript"
        code={`import { InsufficientStockError, isPetstoreError, OrderClosedError, PetstoreClient } from '@petstore/client'

const client = new PetstoreClient({
  baseUrl: '${baseUrlOf(contract)}',
  apiKey: 'YOUR_API_KEY',
})
const stock = await client.inventory.list()
console.log(stock.items[0])`}
      />
      <Heading>A method for each operation</Heading>
      <p>
        Every method takes the parameters of the path, then the body, then options. Ids may be{' '}
        <code>bigint</code>, <code>number</code> or <code>string</code>; results have <code>bigint</code>, or
        strings with the option <code>ids: 'string'</code>. Every call accepts <code>signal</code>,{' '}
        <code>timeout</code>, <code>retries</code> and <code>headers</code>.
      </p>
      <table className="table prose__table">
        <thead>
          <tr>
            <th scope="col">Method</th>
            <th scope="col">Operation</th>
          </tr>
        </thead>
        <tbody>
          {contract.operations.map((operation) => (
            <tr key={operation.id}>
              <td>
                <a href={href({ page: 'operation', id: operation.id })}>
                  <code>{clientMethod(operation)}</code>
                </a>
              </td>
              <td>
                <code>
                  {operation.method} {operation.path}
                </code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Heading>Sell, receive, count</Heading>
      <p>
        Each is one request, safe with any number of concurrent callers, and never takes a quantity below 0:
        see <a href="#/guides/change-stock-safely">Change stock safely</a>. They book one line or many, all or
        nothing. <code>adjust</code> does the same for every other reason.
      </p>
      <CodeBlock title="A sale, a delivery, a count and a loss" language="typescript" code={ADJUST} />
      <Heading>Order</Heading>
      <p>
        An order reserves units: see <a href="#/guides/never-oversell">Never oversell</a>. A 409 is an error
        class of its own, with the units that are available or the state of the order.
      </p>
      <CodeBlock title="Reserve and complete" language="typescript" code={ORDER} />
      <Heading>Set</Heading>
      <CodeBlock title="Only if the entry has not changed" language="typescript" code={SET} />
      <Heading>Lists</Heading>
      <p>
        Every list works in two ways: <code>await</code> returns one page, and <code>for await</code> the
        items of all pages.
      </p>
      <CodeBlock title="One page, the next page, all items" language="typescript" code={LISTS} />
      <Heading>Errors</Heading>
      <p>
        Every failure is a <code>PetstoreError</code> with the <code>code</code> and the <code>message</code>{' '}
        of the service. The client adds the codes <code>connection_failed</code>,{' '}
        <code>invalid_response</code> and <code>invalid_webhook</code>. <code>field</code> names the field
        that is wrong, and <code>details</code> lists every part of a request that failed.
      </p>
      <CodeBlock title="Check the code" language="typescript" code={FAILURES} />
      <Heading>Retries and limits</Heading>
      <ul className="bullets">
        <li>
          After a 429 or 503, the client sends nothing until the <code>Retry-After</code> has passed.
        </li>
        <li>It retries up to five times and for up to five minutes, unless you set other limits.</li>
        <li>
          Every change has an <code>Idempotency-Key</code>, so that it is made at most once. If no response
          arrived at all, <code>mayHaveBeenMade</code> of the error is true: repeat the call with its{' '}
          <code>idempotencyKey</code> to find out.
        </li>
        <li>
          With <code>pace: true</code>, it waits for the next window instead of exceeding the limit.
        </li>
      </ul>
    </>
  )
}
