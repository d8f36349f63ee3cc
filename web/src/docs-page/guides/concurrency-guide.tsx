import { Paragraph } from '../inline-text.tsx'
import { Heading } from '../page-parts.tsx'
import { CodeBlock } from '../samples/code-block.tsx'
import type { Guide } from './guide.ts'

export const concurrencyGuide: Guide = {
  id: 'concurrency',
  title: 'Concurrency',
  summary: 'Change the stock from several places without losing anybody’s change, and read only what is new.',
  keywords: 'etag if-match if-none-match 412 304 precondition conflict lost update cache concurrent',
  Body,
}

const READ = `GET /v1/inventory/1
# 200
ETag: "12-available"

{"petId":1,"quantity":12,"status":"available"}`

const WRITE = `PATCH /v1/inventory/1
If-Match: "12-available"

{"quantity":11}
# 200: it was still in that state, and now it is
ETag: "11-available"`

const CONFLICT = `PATCH /v1/inventory/1
If-Match: "12-available"

{"quantity":13}
# 412 precondition_failed: somebody was faster, nothing changed`

function Body() {
  return (
    <>
      <Paragraph text="An update sets a quantity, whoever set it before. Two people who both read 12, sell one and set 11 have sold two, yet the stock says 11. With `If-Match` the second of them is told." />
      <Heading>Change only what you saw</Heading>
      <ol className="steps">
        <li>Read the entry and keep its ETag. It names the state that the entry is in.</li>
        <li>
          Send it back as <code>If-Match</code> with the update.
        </li>
        <li>
          On 200 the change is made, and on disk. On 412 somebody was faster and nothing has changed: read
          again, decide again, send again.
        </li>
      </ol>
      <CodeBlock title="1. Read" language="http" code={READ} />
      <CodeBlock title="2. Update" language="http" code={WRITE} />
      <CodeBlock title="Meanwhile, somebody else with the same tag" language="http" code={CONFLICT} />
      <p>
        It is decided in the commit itself: of two updates with the same tag exactly one is made, however many
        instances of the service run. An ETag is opaque: send it back as it came, quotes included.
      </p>
      <table className="table prose__table">
        <thead>
          <tr>
            <th scope="col">If-Match</th>
            <th scope="col">The update is made</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>not sent</td>
            <td>always; the last one wins</td>
          </tr>
          <tr>
            <td>
              <code>*</code>
            </td>
            <td>whatever state the entry is in</td>
          </tr>
          <tr>
            <td>
              <code>"12-available"</code>
            </td>
            <td>if the entry is in that state</td>
          </tr>
          <tr>
            <td>
              <code>"12-available", "11-available"</code>
            </td>
            <td>if it is in one of them</td>
          </tr>
        </tbody>
      </table>
      <p>
        A state that comes back has the tag that it had: from 12 to 13 and to 12 again is the same state, and
        for setting a count that is what one wants.
      </p>
      <Heading>Add and take</Heading>
      <Paragraph text="To add or take a number of pieces, or to change many pets at once, nothing has to be read before: [Change stock safely](#/guides/change-stock-safely) shows how." />
      <Heading>Read only what is new</Heading>
      <Paragraph text="Lists and entries have an ETag too. Send it back as `If-None-Match`, and the answer is 304 without a body while nothing has changed. It changes exactly when the content does, and is the same on every instance and after a restart." />
    </>
  )
}
