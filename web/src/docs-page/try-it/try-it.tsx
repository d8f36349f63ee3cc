import { type FormEvent, useEffect, useRef, useState } from 'preact/compat'
import type { Operation } from '../contract.ts'
import { Heading } from '../page-parts.tsx'
import { isEventStream, prepareRequest, type RequestDraft } from '../samples/request-draft.ts'
import { type Exchange, sendRequest, waitUntil } from './exchange.ts'
import { ExchangeView, useSecondsUntil } from './exchange-view.tsx'
import { KeyField, useDocsKey } from './key-field.tsx'
import { RequestFields, type RequestFieldsProps } from './request-fields.tsx'

export function TryIt({ operation, draft, onDraft }: RequestFieldsProps) {
  const { exchange, send, stop } = useExchange(operation, draft)
  // The page respects Retry-After, so that trying does not lead to a ban.
  const pausedSeconds = useSecondsUntil(
    exchange?.phase === 'answered' ? waitUntil(exchange.answer) : undefined,
  )
  const isOpen = exchange?.phase === 'sending' || exchange?.phase === 'streaming'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isOpen && pausedSeconds === 0) send()
  }
  return (
    <section className="card try-it" aria-label="Try it">
      <div className="card__header">
        <Heading>Try it</Heading>
      </div>
      <form className="card__body stack" onSubmit={submit}>
        <KeyField />
        <RequestFields operation={operation} draft={draft} onDraft={onDraft} />
        {operation.method !== 'GET' && <p className="caution small">This changes the data of this store.</p>}
        <div className="try-it__actions cluster">
          <button type="submit" className="button button--primary" disabled={isOpen || pausedSeconds > 0}>
            {sendWords(operation, pausedSeconds)}
          </button>
          {isOpen && (
            <button type="button" className="button" onClick={stop}>
              Stop
            </button>
          )}
        </div>
      </form>
      {exchange !== undefined && <ExchangeView exchange={exchange} />}
    </section>
  )
}

function sendWords(operation: Operation, pausedSeconds: number): string {
  if (pausedSeconds > 0) return `Wait ${pausedSeconds} s`
  return isEventStream(operation) ? 'Open the stream' : `Send ${operation.method}`
}

function useExchange(operation: Operation, draft: RequestDraft) {
  const apiKey = useDocsKey()
  const [exchange, setExchange] = useState<Exchange>()
  const pending = useRef<AbortController>(undefined)
  useEffect(() => () => pending.current?.abort(), [])

  const send = () => {
    pending.current?.abort()
    const own = new AbortController()
    pending.current = own
    void sendRequest(prepareRequest(operation, draft), {
      apiKey,
      signal: own.signal,
      onStep: (step) => pending.current === own && setExchange(step),
    })
  }
  const stop = () => {
    pending.current?.abort()
    // A stream reports its end itself.
    setExchange((last) => (last?.phase === 'sending' ? undefined : last))
  }
  return { exchange, send, stop }
}
