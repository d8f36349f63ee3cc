import { baseUrlOf, useContract } from '../contract-context.tsx'
import { InlineText, Paragraph } from '../inline-text.tsx'
import { Heading } from '../page-parts.tsx'
import { CodeBlock } from '../samples/code-block.tsx'
import { CodeTabs } from '../samples/code-tabs.tsx'
import { changeStockSamples } from './change-stock-samples.ts'
import type { Guide } from './guide.ts'
import { ThreeWaysDrawing } from './three-ways-drawing.tsx'

export const changeStockGuide: Guide = {
  id: 'change-stock-safely',
  title: 'Change stock safely',
  summary: 'Set, set if unchanged, or adjust: which one when, for one pet or a thousand, and once at most.',
  keywords:
    'adjust adjustment delta expected reason reference idempotency-key idempotent retry repeat lost answer bulk many delivery sold received concurrent python',
  Body,
}

/** What the service answers to a delivery with two pets in it that cannot be changed. */
export const REFUSED_BODY =
  '{"reason":"received","changes":[{"petId":1,"delta":12},{"petId":404,"delta":5},{"petId":2,"delta":-100}]}'
export const REFUSED_ANSWER =
  '{"code":"not_found","message":"2 changes cannot be saved, so nothing was changed; details lists them. The error code is that of changes[1]: there is no inventory entry for petId 404; GET /inventory lists the entries that exist","status":404,"details":[{"index":1,"petId":404,"code":"not_found","message":"there is no inventory entry for petId 404; GET /inventory lists the entries that exist"},{"index":2,"petId":2,"code":"insufficient_stock","message":"the quantity of petId 2 is 28, so 100 cannot be taken away","available":28}]}'

const REPLAY = `POST /v1/inventory/adjustments
Idempotency-Key: delivery-1043

{"reason":"received","changes":[{"petId":1,"delta":12}]}
# 200, as it was the first time; nothing changes
Idempotency-Replayed: true`

function Body() {
  const samples = changeStockSamples(baseUrlOf(useContract()))
  return (
    <>
      <ThreeWaysDrawing />
      <table className="table table--stacking prose__table">
        <thead>
          <tr>
            <th scope="col">Way</th>
            <th scope="col">Operation</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>Set</td>
            <td>
              <InlineText text="PATCH /inventory/{petId}" />
            </td>
            <td>You have just counted the shelf, and what the stock said before does not matter.</td>
          </tr>
          <tr>
            <td>Set if unchanged</td>
            <td>
              <InlineText text="the same with `If-Match`, or `expected` in an adjustment" />
            </td>
            <td>Somebody saw a number and corrects it; nobody else’s change is to be overwritten.</td>
          </tr>
          <tr>
            <td>Adjust</td>
            <td>
              <InlineText text="POST /inventory/adjustments" />
            </td>
            <td>Some came in or went out: sold, received, returned, damaged, lost.</td>
          </tr>
        </tbody>
      </table>
      <Heading>Set</Heading>
      <p>Sets the count, whatever it was. Of two who do so at once, the last one wins.</p>
      <CodeTabs label="Samples of set" samples={samples.set} />
      <Heading>Set if unchanged</Heading>
      <Paragraph text="Read the entry and send its ETag back as `If-Match`. Where somebody was faster, the answer is 412 and nothing has changed: read again and decide anew. [Concurrency](#/guides/concurrency) tells all of it." />
      <CodeTabs label="Samples of set if unchanged" samples={samples.setIfUnchanged} />
      <Heading>Adjust</Heading>
      <Paragraph text="Says how many come in or go out, and nothing has to be read before. With any number of callers every piece counts, and the stock never goes below 0: the answer is 409 `insufficient_stock` then. `reason` is one of [seven](#/schemas/Reason); `reference` is up to you, such as an order or a delivery note. Both stand in the history of the pet and in its events. To keep something for a customer before it is sold, [order it](#/guides/never-oversell)." />
      <CodeTabs label="Samples of adjust" samples={samples.adjust} />
      <Heading>Many at once</Heading>
      <Paragraph text="An adjustment has up to 1,000 changes, each pet once, and counts as one request of your limit. A change has a `delta`, or the new `quantity`; with `expected` it is made only if that is the quantity now." />
      <CodeTabs label="Samples of many at once" samples={samples.adjustMany} />
      <Paragraph text="All changes are made, or none. Where some cannot be made, `details` names every one of them by its `index`: take those out, and send the rest again." />
      <CodeBlock title="Two of three cannot be made" language="json" code={REFUSED_ANSWER} />
      <Heading>When the answer is lost</Heading>
      <p>
        A connection can break after the change was made and before you were told. Who sends it again then
        adds twice; who does not may have added nothing. With a key that you choose for the change, sending it
        again is safe.
      </p>
      <ol className="steps">
        <li>
          <InlineText text="Choose an `Idempotency-Key` for each change: 1 to 255 visible ASCII characters, such as a UUID or the number of a delivery. Keep it until the answer is there." />
        </li>
        <li>
          No answer, or a 5xx? Send the very same request again, with the same key. It is made once, however
          often you send it and on however many connections at once.
        </li>
        <li>
          <InlineText text="What was decided before is answered as it was then, with `Idempotency-Replayed: true`." />
        </li>
      </ol>
      <CodeTabs label="Samples of a change that is repeated safely" samples={samples.repeat} />
      <CodeBlock title="The same once more" language="http" code={REPLAY} />
      <ul className="bullets">
        <li>A key is remembered for 24 hours, for the API key that sent it.</li>
        <li>
          <InlineText text="Remembered is what was decided: success, 404, 409 and 412. What was refused before that, such as 400, 401 or 429, is not, so correct it and use the same key." />
        </li>
        <li>
          <InlineText text="The same key with another method, path or body is 422 `idempotency_key_reused`: a new change needs a new key, and so does the rest of an adjustment that was refused." />
        </li>
        <li>
          <InlineText text="It works for PATCH /inventory/{petId} as well. Our [TypeScript client](#/guides/typescript-client) sends a key with every change and repeats it by itself." />
        </li>
      </ul>
    </>
  )
}
