import { baseUrlOf, useContract } from '../contract-context.tsx'
import { href } from '../page-route.ts'
import { CodeBlock } from '../samples/code-block.tsx'
import type { Guide } from './guide.ts'

export const clientGuide: Guide = {
  id: 'typescript-client',
  title: 'The TypeScript client',
  summary:
    'A client without dependencies for Node, Bun and browsers that takes care of ids, limits and breaks.',
  keywords: 'typescript client sdk javascript node bun browser petstoreclient pace retry adjust bigint',
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
        code={`import { isPetstoreError, PetstoreClient } from '@petstore/client'

const client = new PetstoreClient({
  baseUrl: '${baseUrlOf(contract)}',
  apiKey: 'YOUR_API_KEY',
})
const stock = await client.listInventory()
console.log(stock[0])`}
      />
      <h2>A method for each operation</h2>
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
      <h2>Add and take</h2>
      <p>
        One request, whatever others do at the same time, and never below 0:{' '}
        <a href="#/guides/change-stock-safely">Change stock safely</a> tells when to use it.
      </p>
      <CodeBlock title="Three are sold, and a delivery has come" language="typescript" code={ADJUST} />
      <h2>Set</h2>
      <CodeBlock title="Only if it is still as seen" language="typescript" code={SET} />
      <h2>Pages</h2>
      <CodeBlock title="One page, the next, or all" language="typescript" code={PAGES} />
      <h2>Errors</h2>
      <p>
        Every failure is a <code>PetstoreError</code> with the <code>code</code> of the service. Beside those
        there are <code>connection_failed</code> and <code>invalid_response</code>. <code>details</code> has
        every change of an adjustment that cannot be made.
      </p>
      <CodeBlock title="Decide by the code" language="typescript" code={FAILURES} />
      <h2>Waiting</h2>
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
