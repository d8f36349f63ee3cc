import { memo, useMemo } from 'preact/compat'
import { LimitMeter } from '../../shared/limit-meter.tsx'
import { useContract } from '../contract-context.tsx'
import { InlineText } from '../inline-text.tsx'
import { StatusTag, statusPhrase } from '../reference/tags.tsx'
import { CodeFrame, CodeLines } from '../samples/code-block.tsx'
import { plainLines } from '../samples/code-tokens.ts'
import { layOutJson } from '../samples/json-text.ts'
import { type Advice, adviceOn, UNREACHABLE, UNSENDABLE } from './advice.ts'
import {
  type Exchange,
  limitHeadersOf,
  type ReceivedAnswer,
  type ReceivedEvent,
  waitUntil,
} from './exchange.ts'
import { useSecondsUntil } from './seconds-until.ts'

interface Props {
  readonly exchange: Exchange
  /** The key that the request was sent with. */
  readonly sentKey: string
}

/** The response, the stream, or why there is none. Memoized, so that typing does not redraw a large response. */
export const ExchangeView = memo(function ExchangeView(props: Props) {
  return (
    <div className="card__body stack exchange" aria-busy={props.exchange.phase === 'sending'}>
      <ExchangeParts {...props} />
    </div>
  )
})

function ExchangeParts({ exchange, sentKey }: Props) {
  const contract = useContract()
  switch (exchange.phase) {
    case 'sending':
      return (
        <p className="muted">
          <span className="spinner" aria-hidden="true" /> Waiting for the response
        </p>
      )
    case 'unreachable':
      return <Outcome advice={UNREACHABLE} />
    case 'unsendable':
      return <Outcome advice={UNSENDABLE} />
    case 'answered': {
      const { answer } = exchange
      return (
        <>
          <Outcome answer={answer} advice={adviceOn(contract, answer, sentKey)} />
          <WaitNote answer={answer} />
          <AnswerLimits answer={answer} />
          <AnswerHeaders answer={answer} />
          <AnswerBody answer={answer} />
        </>
      )
    }
    default:
      return (
        <>
          <AnswerFacts answer={exchange.answer} isStream />
          <AnswerLimits answer={exchange.answer} />
          <AnswerHeaders answer={exchange.answer} />
          <EventLog stream={exchange} />
        </>
      )
  }
}

interface OutcomeProps {
  readonly answer?: ReceivedAnswer
  readonly advice: Advice | undefined
}

function Outcome({ answer, advice }: OutcomeProps) {
  return (
    <div className="stack" role="status">
      {answer !== undefined && <AnswerFacts answer={answer} />}
      {advice !== undefined && (
        <div className="notice notice--negative stack">
          <strong>{advice.title}</strong>
          <p>
            <InlineText text={advice.text} />{' '}
            {advice.link !== undefined && <a href={advice.link}>Read more</a>}
          </p>
        </div>
      )}
    </div>
  )
}

function AnswerFacts({ answer, isStream }: { readonly answer: ReceivedAnswer; readonly isStream?: true }) {
  const { status, milliseconds, bytes } = answer
  return (
    <p className="exchange__facts cluster number">
      <StatusTag status={status} /> <span>{statusPhrase(status)}</span>
      <span className="muted">{duration(milliseconds)}</span>
      {isStream === undefined && <span className="muted">{size(bytes)}</span>}
    </p>
  )
}

/** Not part of the advice, because a screen reader would read out every second. */
function WaitNote({ answer }: { readonly answer: ReceivedAnswer }) {
  const until = waitUntil(answer)
  const seconds = useSecondsUntil(until)
  if (until === undefined) return null
  return (
    <p className="exchange__wait number">
      {seconds > 0 ? `You can send again in ${seconds} s.` : 'You can send again now.'}
    </p>
  )
}

function AnswerLimits({ answer }: { readonly answer: ReceivedAnswer }) {
  const limits = limitHeadersOf(answer)
  const seconds = useSecondsUntil(limits?.resetAt)
  if (limits === undefined) return null
  return (
    <LimitMeter
      name={answer.status === 401 ? 'Limit without a valid key' : 'Limit of this key'}
      limit={limits.limit}
      remaining={limits.remaining}
      reset={seconds === 0 ? 'resets now' : `resets in ${inTime(seconds)}`}
    />
  )
}

function AnswerHeaders({ answer }: { readonly answer: ReceivedAnswer }) {
  const contract = useContract()
  // Browsers report names in lower case; the contract has their usual case.
  const known = new Map(
    contract.operations.flatMap(({ answers }) =>
      answers.flatMap(({ headers }) => headers.map(({ name }) => [name.toLowerCase(), name] as const)),
    ),
  )
  return (
    <details className="exchange__headers">
      <summary>Headers ({[...answer.headers].length})</summary>
      <dl className="header-list">
        {[...answer.headers].map(([name, value]) => (
          <div key={name} className="header-list__row">
            <dt>{known.get(name) ?? name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

function duration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`
}

function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

function inTime(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

/** The page would be slow with more. The copy button copies everything. */
const MAX_CHARACTERS = 20_000

function AnswerBody({ answer: { text, status } }: { readonly answer: ReceivedAnswer }) {
  const { lines, isCut } = useMemo(() => layOut(text), [text])
  if (text === '')
    return <p className="muted">{status === 304 ? 'No body: nothing has changed.' : 'No body.'}</p>
  return (
    <>
      <CodeFrame header={<span className="muted small">Body</span>} label="Body of the answer" copies={text}>
        <CodeLines lines={lines} />
      </CodeFrame>
      {isCut && (
        <p className="exchange__cut muted small">
          These are the first {MAX_CHARACTERS.toLocaleString('en-US')} of{' '}
          {text.length.toLocaleString('en-US')} characters. Copy gives all of them.
        </p>
      )}
    </>
  )
}

function layOut(text: string) {
  return (
    layOutJson(text, MAX_CHARACTERS) ?? {
      lines: plainLines(text.slice(0, MAX_CHARACTERS)),
      isCut: text.length > MAX_CHARACTERS,
    }
  )
}

type Stream = Extract<Exchange, { readonly eventCount: number }>

function EventLog({ stream }: { readonly stream: Stream }) {
  const { phase, events, eventCount, lastSignAt } = stream
  const isLive = phase === 'streaming'
  return (
    <div className="stack">
      <p className="cluster small">
        <span className={`badge ${isLive ? 'badge--positive' : 'badge--neutral'}`}>
          {isLive ? 'live' : 'ended'}
        </span>
        <span className="number">{eventCount === 1 ? '1 event' : `${eventCount} events`}</span>
        <span className="muted number">{stateWords(stream, clockTime(lastSignAt))}</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <ol className="card event-log__events" aria-label="Events, newest first" tabIndex={0}>
        {events.map((event) => (
          <EventEntry key={event.place} event={event} />
        ))}
      </ol>
      {eventCount > events.length && (
        <p className="exchange__cut muted small">Only the latest {events.length} events are shown.</p>
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
  if (phase === 'streaming') return `last data at ${lastSign}`
  return ending === 'by the reader'
    ? `stopped at ${lastSign}`
    : `ended by the service or the network at ${lastSign}; reopen it with Last-Event-ID to continue`
}

function clockTime(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB')
}
