import { baseUrlOf, useContract } from '../contract-context.tsx'
import { InlineText, Paragraph } from '../inline-text.tsx'
import { Heading } from '../page-parts.tsx'
import { TypeLink } from '../reference/schema-fields.tsx'
import { CodeBlock } from '../samples/code-block.tsx'
import { CodeTabs } from '../samples/code-tabs.tsx'
import type { Guide } from './guide.ts'
import { PlaceDrawing } from './place-drawing.tsx'
import { createSamples, receiverSamples } from './webhooks-samples.ts'

export const webhooksGuide: Guide = {
  id: 'webhooks',
  title: 'Webhooks',
  summary:
    'Have what happens sent to an address of yours: late rather than never, and in order for each pet.',
  keywords:
    'webhook webhooks receiver delivery deliveries signature secret whsec hmac verify standard webhooks retry repeat relist replay rotate 410 retry-after pause resume python',
  Body,
}

const DELIVERY = `POST /hooks/stock HTTP/1.1
Content-Type: application/json
webhook-id: evt_42_5d1c
webhook-timestamp: 1794744000
webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=

{"type":"stock.changed","timestamp":"2026-11-15T12:00:00.000Z","data":{"petId":1,"before":12,"after":11,…}}`

/** What a receiver answers, and what comes of it. */
const ANSWERS = [
  ['200 to 299', 'It is taken, and never sent again.'],
  ['410', 'The webhook is turned off at once.'],
  ['429 or 503 with `Retry-After`', 'Nothing is sent until then, for a day at most.'],
  ['anything else', 'It is sent again. A redirect is not followed: give the address itself.'],
  [
    'nothing within 15 seconds',
    'It is sent again. So answer first, where the work takes longer, once you have written down what came.',
  ],
] as const

function Body() {
  const contract = useContract()
  const base = baseUrlOf(contract)
  return (
    <>
      <PlaceDrawing />
      <Paragraph text="Everything that happens goes into one log, in the commit that does it. A webhook is a place in that log: what lies behind it was taken by your receiver, and what lies ahead is sent, up to 16 at once. While the receiver is down the place stays where it is, so nothing is lost; it only comes later. All of this follows the [Standard Webhooks](https://www.standardwebhooks.com) specification, for which there are libraries in many languages." />
      <Heading>Make one</Heading>
      <Paragraph text="With a key that has the permission `webhooks`. The address has to be on the public internet, with https, unless whoever runs the service allows others. The answer is the only one with the `secret`: keep it as you keep a password." />
      <CodeTabs label="Samples of a new webhook" samples={createSamples(base)} />
      <Heading>Receive</Heading>
      <Paragraph text="Two whole receivers, which keep a copy of the stock. Both verify the signature over the body exactly as it arrived, before they look at what it says." />
      <CodeTabs label="Samples of a receiver" samples={receiverSamples(base)} />
      <Paragraph text="POST /webhooks/{webhookId}/test sends an event of the type `webhook.test` at once and returns the response. It says nothing about the stock, and its `webhook-id` begins with `test_`." />
      <Heading>What comes</Heading>
      <CodeBlock title="A delivery" language="http" code={DELIVERY} />
      <table className="table table--stacking prose__table">
        <thead>
          <tr>
            <th scope="col">Type</th>
            <th scope="col">What it tells</th>
            <th scope="col">Body</th>
          </tr>
        </thead>
        <tbody>
          {contract.webhooks.map(({ type, summary, schema }) => (
            <tr key={type}>
              <td>
                <code>{type}</code>
              </td>
              <td>{summary}.</td>
              <td>
                <TypeLink schema={schema} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Heading>Verify it</Heading>
      <Paragraph text="Signed is `{webhook-id}.{webhook-timestamp}.{body}`, with HMAC-SHA256; the key is what stands behind `whsec_`, decoded from base64. `webhook-signature` has one or more of `v1,` and the result in base64, with blanks in between: one that fits is enough. Compare in constant time, and refuse a timestamp that is more than 5 minutes away, so that nobody can send again what they recorded. `verifyWebhook` of the [client](#/guides/client) does all of it." />
      <Heading>Repeats and order</Heading>
      <ul className="bullets">
        <li>
          <InlineText text="A delivery may come more than once: when your answer was lost, or after a crash. Its `webhook-id` stays the same. Remember those that are done, in the same transaction as what you did." />
        </li>
        <li>
          Deliveries about one pet, its orders included, come one after the other, each once the one before it
          is taken. Those of different pets come in any order.
        </li>
        <li>
          <InlineText text="`after` is the quantity itself: set it rather than adding a difference, and a repeat does no harm." />
        </li>
      </ul>
      <Heading>When the log no longer reaches back: relist</Heading>
      <Paragraph text="When the place of a webhook is gone, since the log was pruned past it or the database was restored, it gets one delivery of the type `relist`, whatever its kinds are. Read the list again, GET /inventory, then answer 2xx and go on: whatever happens from then on follows. Until then nothing else is sent, so answer only when you have read the list, or have written down that you must." />
      <Heading>When it fails</Heading>
      <table className="table table--stacking prose__table">
        <thead>
          <tr>
            <th scope="col">You answer</th>
            <th scope="col">What comes of it</th>
          </tr>
        </thead>
        <tbody>
          {ANSWERS.map(([answer, outcome]) => (
            <tr key={answer}>
              <td>
                <InlineText text={answer} />
              </td>
              <td>{outcome}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        It is sent again after 5 seconds, 30 seconds, 2 minutes, 10 minutes and an hour, then every 3 hours,
        each give or take a tenth, unless whoever runs the service has set other pauses. What comes after it
        of the same pet waits; other pets go on for a while. A receiver that takes nothing at all is asked
        with the first one alone until it takes that.
      </p>
      <Paragraph text="After 3 days in which the same one has failed, the webhook is turned off. GET /webhooks/{webhookId} says so in `state`, and in `offReason` why; GET /webhooks/{webhookId}/deliveries has the last 1,000 attempts with what came back. Fix the receiver and turn the webhook on with PATCH /webhooks/{webhookId} and `paused` false or a new `url`: it goes on from its place, at once. The same ends a pause that you began with `true`." />
      <Heading>Rotate the secret</Heading>
      <Paragraph text="POST /webhooks/{webhookId}/rotate-secret gives a new one. For 24 hours deliveries have two signatures, one of each, so there is no moment at which your receiver refuses: give it the new one, beside the old one if you like, and take the old one away later." />
      <Heading>Good to know</Heading>
      <ul className="bullets">
        <li>
          <InlineText text="Followers who are always there, such as a page in a browser, are better off with [events](#/guides/events): the same, over a connection that they open." />
        </li>
        <li>
          <InlineText text="Ids are int64, with all their digits in the JSON: see [Ids and JSON](#/guides/ids)." />
        </li>
        <li>
          <InlineText text="If your receiver has lost deliveries, POST /webhooks/{webhookId}/redeliver with a time in `since` sends all events since then again, with the same ids. If the log was pruned in the meantime, it sends a `relist` instead." />
        </li>
      </ul>
    </>
  )
}
