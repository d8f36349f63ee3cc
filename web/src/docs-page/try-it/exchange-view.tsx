import { memo, useEffect, useState } from 'preact/compat'
import { LimitMeter } from '../../shared/limit-meter.tsx'
import type { Contract } from '../contract.ts'
import { useContract } from '../contract-context.tsx'
import { WHAT_TO_DO } from '../guides/contract-tables.tsx'
import { InlineText } from '../inline-text.tsx'
import { href } from '../page-route.ts'
import { StatusTag, statusPhrase } from '../reference/tags.tsx'
import { Code, CodeFrame } from '../samples/code-block.tsx'
import { jsonLines } from '../samples/code-tokens.ts'
import {
  type Exchange,
  errorCodeOf,
  limitHeadersOf,
  type ReceivedAnswer,
  type ReceivedEvent,
  waitUntil,
} from './exchange.ts'

interface Props {
  readonly exchange: Exchange
}

/** The response, the stream, or why there is none. Memoized, so that typing does not redraw a large response. */
export const ExchangeView = memo(function ExchangeView(props: Props) {
  return (
    <div className="card__body stack exchange" aria-busy={props.exchange.phase === 'sending'}>
      <ExchangeParts {...props} />
    </div>
  )
})

function ExchangeParts({ exchange }: Props) {
  const contract = useContract()
  switch (exchange.phase) {
    case 'sending':
      return (
        <p className="muted">
          <span className="spinner" aria-hidden="true" /> Waiting for the response
        </p>
      )
    case 'unreachable':
    case 'unsendable':
      return <Outcome advice={NO_ANSWER[exchange.phase]} />
    default: {
      const { answer } = exchange
      return (
        <>
          <Outcome answer={answer} advice={adviceOn(contract, answer)} />
          <WaitNote answer={answer} />
          <AnswerLimits answer={answer} />
          <AnswerHeaders answer={answer} />
          {exchange.phase === 'answered' ? <AnswerBody answer={answer} /> : <EventLog stream={exchange} />}
        </>
      )
    }
  }
}

/** Why a request failed, and what to do next. */
interface Advice {
  readonly title: string
  readonly text: string
  readonly link?: string
}

const NO_ANSWER: Readonly<Record<'unreachable' | 'unsendable', Advice>> = {
  unreachable: {
    title: 'The service cannot be reached',
    text: 'No response arrived. Check that the service runs and that you are online, then send again.',
  },
  unsendable: {
    title: 'The request was not sent',
    text: 'The key or a header has a character that headers cannot have. Look for line breaks and curly quotes.',
  },
}

const NO_KEY: Advice = { title: 'The key is missing', text: 'Enter an API key above and send again.' }

function adviceOn(contract: Contract, answer: ReceivedAnswer): Advice | undefined {
  if (answer.status < 400) return undefined
  const error = contract.document['x-error-codes'].find(({ code }) => code === errorCodeOf(answer))
  if (error === undefined)
    return {
      title: `The status is ${answer.status}`,
      text: 'The body is not an Error of this service, so the response may come from a proxy.',
    }
  const { code, description } = error
  if (code === 'unauthorized' && !answer.wasSentWithKey) return NO_KEY
  const link = href({ page: 'guides', id: 'errors' }, code)
  return { title: description, text: WHAT_TO_DO[code] ?? '', link }
}

interface AnswerProps {
  readonly answer: ReceivedAnswer
}

interface OutcomeProps extends Partial<AnswerProps> {
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

function AnswerFacts({ answer: { status, milliseconds, bytes } }: AnswerProps) {
  return (
    <p className="exchange__facts cluster number">
      <StatusTag status={status} /> <span>{statusPhrase(status)}</span>
      <span className="muted">{duration(milliseconds)}</span>
      {bytes !== undefined && <span className="muted">{size(bytes)}</span>}
    </p>
  )
}

/** Not part of the advice, because a screen reader would read out every second. */
function WaitNote({ answer }: AnswerProps) {
  const until = waitUntil(answer)
  const seconds = useSecondsUntil(until)
  if (until === undefined) return null
  return (
    <p className="exchange__wait number">
      {seconds > 0 ? `You can send again in ${seconds} s.` : 'You can send again now.'}
    </p>
  )
}

function AnswerLimits({ answer }: AnswerProps) {
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

function AnswerHeaders({ answer }: AnswerProps) {
  const answers = useContract().operations.flatMap((operation) => operation.answers)
  // Browsers report names in lower case; the contract has their usual case.
  const names = answers.flatMap(({ headers }) => headers.map(({ name }) => name))
  const received = [...answer.headers]
  return (
    <details className="exchange__headers">
      <summary>Headers ({received.length})</summary>
      <dl className="header-list">
        {received.map(([name, value]) => (
          <div key={name} className="header-list__row">
            <dt>{names.find((known) => known.toLowerCase() === name) ?? name}</dt>
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

function AnswerBody({ answer: { text, status } }: AnswerProps) {
  const isCut = text.length > MAX_CHARACTERS
  if (text === '')
    return <p className="muted">{status === 304 ? 'No body: nothing has changed.' : 'No body.'}</p>
  const lines = jsonLines(text.slice(0, MAX_CHARACTERS), isCut)
  return (
    <>
      <CodeFrame header="Body" label="Body of the answer" copies={text} lines={lines} />
      {isCut && (
        <p className="exchange__cut muted small">
          These are the first {MAX_CHARACTERS.toLocaleString('en-US')} of{' '}
          {text.length.toLocaleString('en-US')} characters. Copy gives all of them.
        </p>
      )}
    </>
  )
}

type Stream = Extract<Exchange, { readonly eventCount: number }>

function EventLog({ stream }: { readonly stream: Stream }) {
  const { phase, events, eventCount } = stream
  const isLive = phase === 'streaming'
  return (
    <div className="stack">
      <p className="cluster small">
        <span className={`badge ${isLive ? 'badge--positive' : 'badge--neutral'}`}>
          {isLive ? 'live' : 'ended'}
        </span>
        <span className="number">{eventCount === 1 ? '1 event' : `${eventCount} events`}</span>
        <span className="muted number">{stateWords(stream)}</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <ol className="card event-log__events" aria-label="Events, newest first" tabIndex={0}>
        {events.map((event) => (
          <EventEntry key={event.number} event={event} />
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
      {data !== '{}' && <Code lines={jsonLines(data)} />}
    </li>
  )
}

function stateWords({ phase, lastDataAt }: Stream): string {
  const time = clockTime(lastDataAt)
  if (phase === 'streaming') return `last data at ${time}`
  if (phase === 'stopped') return `stopped at ${time}`
  return `ended by the service or the network at ${time}; reopen it with Last-Event-ID to continue`
}

function clockTime(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB')
}

/** Whole seconds until a moment, counting down to 0. */
export function useSecondsUntil(moment = 0): number {
  const [now, setNow] = useState(Date.now)
  const isOver = moment <= now
  useEffect(() => {
    setNow(Date.now())
    if (isOver) return
    const timer = setInterval(() => setNow(Date.now()), 250)
    return () => clearInterval(timer)
  }, [moment, isOver])
  return Math.max(0, Math.ceil((moment - now) / 1000))
}
