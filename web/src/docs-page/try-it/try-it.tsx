import { type FormEvent, useEffect, useRef, useState } from 'preact/compat'
import type { Operation } from '../contract.ts'
import { baseUrlOf, useContract } from '../contract-context.tsx'
import { Heading } from '../page-parts.tsx'
import { isEventStream, prepareRequest, type RequestDraft } from '../samples/request-draft.ts'
import { type Exchange, sendRequest, waitUntil } from './exchange.ts'
import { ExchangeView } from './exchange-view.tsx'
import { KeyField, useTabKey } from './key-field.tsx'
import { RequestFields } from './request-fields.tsx'
import { useSecondsUntil } from './seconds-until.ts'

interface Props {
  readonly operation: Operation
  readonly draft: RequestDraft
  readonly onDraft: (draft: RequestDraft) => void
}

export function TryIt({ operation, draft, onDraft }: Props) {
  const { exchange, sentKey, send, stop } = useExchange(operation, draft)
  const pausedSeconds = usePause(exchange)
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
      {exchange !== undefined && <ExchangeView exchange={exchange} sentKey={sentKey} />}
    </section>
  )
}

function sendWords(operation: Operation, pausedSeconds: number): string {
  if (pausedSeconds > 0) return `Wait ${pausedSeconds} s`
  return isEventStream(operation) ? 'Open the stream' : `Send ${operation.method}`
}

function useExchange(operation: Operation, draft: RequestDraft) {
  const contract = useContract()
  const [apiKey] = useTabKey()
  const [exchange, setExchange] = useState<Exchange>()
  const [sentKey, setSentKey] = useState('')
  const pending = useRef<AbortController>(undefined)
  useEffect(() => () => pending.current?.abort(), [])

  const send = () => {
    pending.current?.abort()
    const own = new AbortController()
    pending.current = own
    setSentKey(apiKey)
    void sendRequest(prepareRequest(operation, draft), {
      baseUrl: baseUrlOf(contract),
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
  return { exchange, sentKey, send, stop }
}

/** The page respects Retry-After, so that trying does not lead to a ban. */
function usePause(exchange: Exchange | undefined): number {
  return useSecondsUntil(exchange?.phase === 'answered' ? waitUntil(exchange.answer) : undefined)
}
