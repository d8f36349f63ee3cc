import type { Contract } from '../contract.ts'
import { baseUrlOf, useContract } from '../contract-context.tsx'
import { InlineText, Paragraph } from '../inline-text.tsx'
import { Heading } from '../page-parts.tsx'
import { TypeLink } from '../reference/schema-fields.tsx'
import { CodeBlock } from '../samples/code-block.tsx'
import { CodeTabs } from '../samples/code-tabs.tsx'
import { copySamples } from './events-samples.ts'
import type { Guide } from './guide.ts'

export const eventsGuide: Guide = {
  id: 'events',
  title: 'Events',
  summary: 'Follow every change of the stock as it happens, and go on without a gap after a break.',
  keywords:
    'server-sent events sse stream last-event-id relist ready change order pet low recovered removed heartbeat reconnect live',
  Body,
}

const MEANINGS: Readonly<Record<string, string>> = {
  ready: 'The stream has begun. Its id is the point that it starts from.',
  change: 'A quantity changed.',
  order: 'An order was made, changed, completed or cancelled, or its hold ran out.',
  pet: 'A pet was added, or changed in anything but its quantity.',
  low: 'So few are available that the pet has reached its threshold, or its category’s.',
  recovered: 'More are available than that again.',
  removed: 'An entry is gone.',
  relist: 'Too much changed to tell it one by one: list the inventory again, then go on from this event.',
}

const STREAM = `event: ready
id: 41.0
data: {}

event: change
id: 42.0
data: {"petId":1,"before":12,"after":11,"status":"available","at":"2026-11-15T12:00:00.000Z","keyId":"key_4fT9cVq2Lw8ZsXyN"}

: heartbeat`

function Body() {
  const contract = useContract()
  const base = baseUrlOf(contract)
  return (
    <>
      <Paragraph text="`GET /inventory/events` is an answer that does not end: a stream of server-sent events, one for each change of the stock, whoever made it, in the order of the commits. See [its reference](#/operations/inventoryEvents), where it can be tried." />
      <CodeBlock
        title="Follow it in a terminal"
        language="shell"
        code={`curl -N '${base}/inventory/events' \\\n  -H 'Authorization: Bearer YOUR_API_KEY'`}
      />
      <CodeBlock title="What comes" language="http" code={STREAM} />
      <Heading>Kinds of events</Heading>
      <EventTable contract={contract} />
      <Heading>Go on after a break</Heading>
      <Paragraph text="Connections break. Keep the `id` of the last event, connect again and send it as the header `Last-Event-ID`: the stream goes on right behind it, and nothing is missed. Callers that cannot set the header give it as `?lastEventId=`. An id is opaque: send it back as it came." />
      <p>
        If more was missed than is worth telling, there is one <code>relist</code> event instead. List the
        inventory then and go on; the stream continues from there.
      </p>
      <Heading>Keep a copy of the stock</Heading>
      <p>
        Begin the stream first and list on <code>ready</code>: then the list is never older than the events
        that follow. An event may tell what the list already shows, so set the quantity to <code>after</code>{' '}
        rather than adding a difference.
      </p>
      <CodeTabs label="Samples of keeping a copy" samples={copySamples(base)} />
      <Heading>Good to know</Heading>
      <ul className="bullets">
        <li>
          A comment line comes every 15 seconds unless whoever runs the service has set another time. If
          nothing comes for much longer, the connection is broken: connect again.
        </li>
        <li>
          The stream ends when its key does, when the service stops, and when its reader is too slow. Resume
          it.
        </li>
        <li>
          <InlineText text="It counts as one request of the key’s [limits](#/guides/limits), and a key can have 20 streams open, an Enterprise key 200." />
        </li>
        <li>
          <InlineText text="`kinds` and `petId` select events, such as `?kinds=change,removed&petId=1`. `relist` always comes. A block with only an `id` moves your Last-Event-ID past the events that were left out." />
        </li>
        <li>
          The browser’s <code>EventSource</code> cannot send a key. Use the client, or <code>fetch</code> and
          read the body.
        </li>
      </ul>
    </>
  )
}

function EventTable({ contract }: { readonly contract: Contract }) {
  const streams = contract.operations.flatMap(({ answers }) => answers.flatMap(({ events }) => events ?? []))
  return (
    <table className="table prose__table">
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">What it tells</th>
          <th scope="col">Data</th>
        </tr>
      </thead>
      <tbody>
        {streams
          .flatMap((kinds) => [...kinds])
          .map(([name, schema]) => (
            <tr key={name}>
              <td>
                <code>{name}</code>
              </td>
              <td>{MEANINGS[name] ?? ''}</td>
              <td>
                {schema.$ref === undefined ? (
                  <span className="muted">none</span>
                ) : (
                  <TypeLink schema={schema} />
                )}
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  )
}
