import { baseUrlOf, useContract } from '../contract-context.tsx'
import { Heading } from '../page-parts.tsx'
import { href } from '../page-route.ts'
import { CodeBlock } from '../samples/code-block.tsx'
import type { Guide } from './guide.ts'

export const clientGuide: Guide = {
  id: 'typescript-client',
  title: 'The TypeScript client',
  summary:
    'A client without dependencies for Node, Bun and browsers that takes care of ids, limits and breaks.',
  keywords: 'typescript client sdk javascript node bun browser petstoreclient pace retry adjust order bigint',
  Body,
}

const ADJUST = `const sold = await client.adjustInventory({ petId: 16n, delta: -3 }, { reason: 'sold', reference: 'order 17' })
console.log(sold.quantity)

await client.adjustInventory(
  [
    { petId: 1n, delta: 12 },
    { petId: 2n, quantity: 30, expected: 28 },
  ],
  { reason: 'received', reference: 'PO-1043' },
)`

const ORDER = `try {
  const order = await client.createOrder({ petId: 1n, quantity: 1, holdSeconds: 900 })
  await client.completeOrder(order.id)
} catch (error) {
  if (error instanceof InsufficientStockError) console.log(\`only \${error.available} are left\`)
  else if (error instanceof OrderClosedError) console.log(\`the order is \${error.state}\`)
  else throw error
}

for await (const order of client.listOrders({ state: 'open' })) console.log(order.id)`

const SET = `const seen = await client.getInventoryItem(2n)
await client.updateInventory(2n, { quantity: 10 }, { ifMatch: seen.etag })`

const FAILURES = `try {
  await client.updateInventory(404n, { quantity: 1 })
} catch (error) {
  if (!isPetstoreError(error, 'not_found')) throw error
  console.log(error.message)
}`

const PAGES = `const page = await client.listPets({ status: 'pending', limit: 2 })
const next = await client.listPets({ status: 'pending', limit: 2, cursor: page.next })

for await (const pet of client.allPets()) console.log(pet.name)`

function Body() {
  const contract = useContract()
  return (
    <>
      <p>
        <code>@petstore/client</code> is in the folder <code>client/</code> of the repository, whose README
        tells all of it. <code>npm run build:client</code> builds it. It runs in Node 20 and later, in Bun and
        in browsers.
      </p>
      <CodeBlock
        title="Begin"
        language="typescript"
        code={`import { InsufficientStockError, isPetstoreError, OrderClosedError, PetstoreClient } from '@petstore/client'

const client = new PetstoreClient({
  baseUrl: '${baseUrlOf(contract)}',
  apiKey: 'YOUR_API_KEY',
})
const stock = await client.listInventory()
console.log(stock[0])`}
      />
      <Heading>A method for each operation</Heading>
      <p>
        Each is named as the operation: parameters of the path come first, then the body, then options. Ids
        are <code>bigint</code>. <code>adjustInventory</code> takes one change or many, and has the reason
        among its options.
      </p>
      <table className="table prose__table">
        <thead>
          <tr>
            <th scope="col">Method</th>
            <th scope="col">Operation</th>
          </tr>
        </thead>
        <tbody>
          {contract.operations.map(({ id, method, path }) => (
            <tr key={id}>
              <td>
                <a href={href({ page: 'operation', id })}>
                  <code>{id}</code>
                </a>
              </td>
              <td>
                <code>
                  {method} {path}
                </code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Heading>Add and take</Heading>
      <p>
        One request, whatever others do at the same time, and never below 0:{' '}
        <a href="#/guides/change-stock-safely">Change stock safely</a> tells when to use it.
      </p>
      <CodeBlock title="Three are sold, and a delivery has come" language="typescript" code={ADJUST} />
      <Heading>Order</Heading>
      <p>
        An order reserves: <a href="#/guides/never-oversell">Never oversell</a> tells all of it.{' '}
        <code>completeOrder</code> is short for <code>updateOrder</code>, and <code>listOrders</code> goes
        over all pages by itself. A 409 is an error of its own kind, which carries what is available or what
        the order is.
      </p>
      <CodeBlock title="Reserve, complete, list" language="typescript" code={ORDER} />
      <Heading>Set</Heading>
      <CodeBlock title="Only if it is still as seen" language="typescript" code={SET} />
      <Heading>Pages</Heading>
      <CodeBlock title="One page, the next, or all" language="typescript" code={PAGES} />
      <Heading>Errors</Heading>
      <p>
        Every failure is a <code>PetstoreError</code> with the <code>code</code> of the service. Beside those
        there are <code>connection_failed</code> and <code>invalid_response</code>. <code>details</code> has
        every change of an adjustment that cannot be made.
      </p>
      <CodeBlock title="Decide by the code" language="typescript" code={FAILURES} />
      <Heading>Waiting</Heading>
      <ul className="bullets">
        <li>
          After a 429 or 503, nothing is sent by this client until the time that the service named has passed.
        </li>
        <li>It tries again by itself, up to five times and five minutes unless you say otherwise.</li>
        <li>
          Every change has an <code>Idempotency-Key</code>, so that it is made once however often it is sent.
          Where no answer came at all, <code>mayHaveBeenMade</code> of the error says so: the same call with
          its <code>idempotencyKey</code> tells.
        </li>
        <li>
          With <code>pace: true</code> it counts along and waits for the next window instead of running into a
          429.
        </li>
      </ul>
    </>
  )
}
