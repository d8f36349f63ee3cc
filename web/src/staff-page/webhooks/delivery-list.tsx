import type { WebhookDelivery, WebhookTest } from '@petstore/client'
import { memo, useState } from 'preact/compat'
import type { ListSnapshot, LiveList } from '../data/live-list.ts'
import { useReadable } from '../data/observable.ts'
import { subjectWords } from '../data/webhooks/webhook-words.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Moment } from '../ui/changes.tsx'
import { useNow } from '../ui/hooks.ts'
import { RetryNotice } from '../ui/notices.tsx'

interface Props {
  readonly list: LiveList<WebhookDelivery>
  readonly url: string
  /** Sends the event of this message and all later ones again. */
  readonly onSendAgain: (messageId: string) => Promise<void>
}

/** The attempts to deliver events of one webhook, newest first. */
export const DeliveryList = memo(function DeliveryList({ list, url, onSendAgain }: Props) {
  const snapshot = useReadable(list)
  const { rows, next, isLoading, isLoadingMore, failure } = snapshot
  const [isFailedOnly, setFailedOnly] = useState(false)
  const { requests } = useSession()
  const now = useNow(30_000, requests.clock.now)
  const shown = rows.filter(({ delivered }) => !isFailedOnly || !delivered)
  return (
    <section className="deliveries stack" aria-label={`Deliveries to ${url}`}>
      <div className="cluster view__head">
        <h3>Deliveries</h3>
        <label className="cluster">
          <input
            type="checkbox"
            className="checkbox"
            checked={isFailedOnly}
            onChange={({ currentTarget }) => setFailedOnly(currentTarget.checked)}
          />
          Only failed
        </label>
        <Button
          size="small"
          aria-label="Refresh deliveries"
          isDisabled={isLoading}
          onClick={() => void list.reload()}
        >
          Refresh
        </Button>
      </div>
      <p className="muted number" role="status">
        {countWords(snapshot, shown.length, isFailedOnly)}
      </p>
      <RetryNotice tone="caution" onRetry={() => void list.reload()}>
        {failure}
      </RetryNotice>
      {shown.length > 0 && (
        <ol>
          {shown.map((delivery) => (
            <li key={delivery.id} className="list-row list-row--flush delivery">
              <span>{subjectWords(delivery)}</span>
              <span>
                <Outcome {...delivery} />
              </span>
              <span className="delivery__figures muted small number">
                {delivery.parked === true && <span>Skipped</span>}
                {delivery.attempt > 1 && <span>Attempt {delivery.attempt}</span>}
                <span>{delivery.durationMs.toLocaleString('en')} ms</span>
              </span>
              <Moment at={Date.parse(delivery.at)} now={now} />
              <div className="stack delivery__answer">
                <Response {...delivery} />
                {delivery.messageId.startsWith('evt_') && (
                  <Button size="small" onClick={() => void onSendAgain(delivery.messageId)}>
                    Send again from here
                  </Button>
                )}
              </div>
            </li>
          ))}
        </ol>
      )}
      {next !== undefined && (
        <Button size="small" isBusy={isLoadingMore} onClick={() => void list.loadMore()}>
          Show more
        </Button>
      )}
    </section>
  )
})

function countWords(
  { rows, next, phase }: ListSnapshot<WebhookDelivery>,
  shown: number,
  isFailedOnly: boolean,
): string {
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  if (rows.length === 0) return 'Nothing was sent yet. Send a test event to try it.'
  const total = rows.length.toLocaleString('en')
  if (isFailedOnly) return `${shown.toLocaleString('en')} failed of the latest ${total}`
  return next === undefined ? `${total} in all` : `The latest ${total}`
}

export function TestResult({ test }: { readonly test: WebhookTest }) {
  return (
    <div className="webhook-panel panel stack">
      <span className="cluster">
        <strong>Test event</strong>
        <Outcome {...test} />
        <span className="muted number">{test.durationMs.toLocaleString('en')} ms</span>
      </span>
      <Response {...test} />
    </div>
  )
}

type Attempt = Pick<WebhookTest, 'delivered' | 'status' | 'error' | 'response'>

function Outcome({ delivered, status }: Attempt) {
  return (
    <span className={`badge badge--${delivered ? 'positive' : 'negative'}`}>
      {delivered ? 'Delivered' : 'Failed'}
      {status !== undefined && ` (${status})`}
    </span>
  )
}

const SHORT_CHARACTERS = 80

/** The error, and the beginning of the receiver's response. A long response can be opened. */
function Response({ error, response }: Attempt) {
  const text = response.trim()
  const [firstLine = ''] = text.split('\n', 1)
  const isShort = text === firstLine && text.length <= SHORT_CHARACTERS
  const label = <span className="visually-hidden">The receiver answered: </span>
  return (
    <>
      {error !== undefined && <p className="negative delivery__error">{error}</p>}
      {text !== '' && isShort && (
        <p className="small delivery__response">
          {label}
          <code>{text}</code>
        </p>
      )}
      {!isShort && (
        <details className="small delivery__response">
          <summary>
            {label}
            <code>{firstLine.slice(0, SHORT_CHARACTERS)} …</code>
          </summary>
          <pre>{text}</pre>
        </details>
      )}
    </>
  )
}
