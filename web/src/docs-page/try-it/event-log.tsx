import { CodeLines } from '../samples/code-block.tsx'
import { plainLines } from '../samples/code-token.ts'
import { layOutJson } from '../samples/json-text.ts'
import type { Exchange } from './exchange.ts'
import type { ReceivedEvent } from './received-answer.ts'

type Stream = Extract<Exchange, { readonly eventCount: number }>

/** A stream as it goes on: the newest event first. */
export function EventLog({ stream }: { readonly stream: Stream }) {
  const { phase, events, eventCount, lastSignAt } = stream
  const isLive = phase === 'streaming'
  return (
    <div className="event-log">
      <p className="event-log__state">
        <span className={`badge ${isLive ? 'badge--positive' : 'badge--neutral'}`}>
          {isLive ? 'live' : 'ended'}
        </span>
        <span className="number">{eventCount === 1 ? '1 event' : `${eventCount} events`}</span>
        <span className="muted number">{stateWords(stream, clockTime(lastSignAt))}</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be within reach of the keyboard */}
      <ol className="event-log__events" aria-label="Events, newest first" tabIndex={0}>
        {events.map((event) => (
          <EventEntry key={event.place} event={event} />
        ))}
      </ol>
      {eventCount > events.length && (
        <p className="exchange__cut">These are the latest {events.length}; older ones are not kept.</p>
      )}
    </div>
  )
}

function EventEntry({ event: { kind, id, data, at } }: { readonly event: ReceivedEvent }) {
  return (
    <li className="event-entry">
      <div className="event-entry__head">
        <code className="event-entry__kind">{kind}</code>
        <span className="muted number">{clockTime(at)}</span>
        <code className="event-entry__id muted">id {id}</code>
      </div>
      {data !== '{}' && (
        <pre>
          <code>
            <CodeLines lines={layOutJson(data)?.lines ?? plainLines(data)} />
          </code>
        </pre>
      )}
    </li>
  )
}

function stateWords({ phase, ending }: Stream, lastSign: string): string {
  if (phase === 'streaming') return `last sign of life at ${lastSign}`
  return ending === 'by the reader'
    ? `stopped at ${lastSign}`
    : `ended by the service or the network at ${lastSign}; open it again with Last-Event-ID to go on`
}

function clockTime(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB')
}
