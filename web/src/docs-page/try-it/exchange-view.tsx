import { memo } from 'react'
import { LimitMeter } from '../../shared/limit-meter.tsx'
import { useContract } from '../contract-context.tsx'
import { InlineText } from '../inline-text.tsx'
import { href } from '../page-route.ts'
import { StatusTag, statusPhrase } from '../reference/status-tag.tsx'
import { type Advice, adviceOn, UNREACHABLE, UNSENDABLE } from './advice.ts'
import { AnswerBody } from './answer-body.tsx'
import { EventLog } from './event-log.tsx'
import type { Exchange } from './exchange.ts'
import { limitHeadersOf, type ReceivedAnswer, waitUntil } from './received-answer.ts'
import { useSecondsUntil } from './seconds-until.ts'

interface Props {
  readonly exchange: Exchange
  /** What it was sent with, which may not be what the field holds now. */
  readonly sentKey: string
}

/** What came of a try: the answer, the stream, or why there is none. A large one is not drawn anew with each key typed. */
export const ExchangeView = memo(function ExchangeView(props: Props) {
  return (
    <div className="exchange" aria-busy={props.exchange.phase === 'sending'}>
      <ExchangeParts {...props} />
    </div>
  )
})

function ExchangeParts({ exchange, sentKey }: Props) {
  switch (exchange.phase) {
    case 'sending':
      return (
        <p className="muted">
          <span className="spinner" aria-hidden="true" /> Waiting for the answer
        </p>
      )
    case 'unreachable':
      return <Outcome advice={UNREACHABLE} />
    case 'unsendable':
      return <Outcome advice={UNSENDABLE} />
    case 'answered': {
      const advice = adviceOn(exchange.answer, sentKey)
      return (
        <>
          <div className="exchange__outcome" role="status">
            <AnswerFacts answer={exchange.answer} />
            {advice !== undefined && <AdviceNotice advice={advice} />}
          </div>
          <WaitNote answer={exchange.answer} />
          <AnswerLimits answer={exchange.answer} />
          <AnswerHeaders answer={exchange.answer} />
          <AnswerBody answer={exchange.answer} />
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

function Outcome({ advice }: { readonly advice: Advice }) {
  return (
    <div className="exchange__outcome" role="status">
      <AdviceNotice advice={advice} />
    </div>
  )
}

function AnswerFacts({ answer, isStream }: { readonly answer: ReceivedAnswer; readonly isStream?: true }) {
  const { status, milliseconds, bytes } = answer
  return (
    <p className="exchange__facts number">
      <StatusTag status={status} /> <span>{statusPhrase(status)}</span>
      <span className="muted">{duration(milliseconds)}</span>
      {isStream === undefined && <span className="muted">{size(bytes)}</span>}
    </p>
  )
}

/** Counts down beside the advice: inside of it, every second would be read out. */
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

function AdviceNotice({ advice }: { readonly advice: Advice }) {
  const { title, text, guide } = advice
  return (
    <div className="notice notice--negative exchange__advice">
      <strong>{title}</strong>
      <p>
        <InlineText text={text} />
        {guide !== undefined && (
          <>
            {' '}
            <a href={href({ page: 'guide', id: guide })}>Read more</a>
          </>
        )}
      </p>
    </div>
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
      reset={seconds === 0 ? 'begins anew now' : `begins anew in ${inTime(seconds)}`}
    />
  )
}

function AnswerHeaders({ answer }: { readonly answer: ReceivedAnswer }) {
  const contract = useContract()
  // The browser gives names in small letters; those of the contract are known as it writes them.
  const known = new Map(
    contract.operations.flatMap(({ answers }) =>
      answers.flatMap(({ headers }) => headers.map(({ name }) => [name.toLowerCase(), name] as const)),
    ),
  )
  return (
    <details className="exchange__headers">
      <summary>Headers ({answer.headers.length})</summary>
      <dl className="header-list">
        {answer.headers.map(([name, value]) => (
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
