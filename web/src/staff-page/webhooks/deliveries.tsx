import type { WebhookDelivery } from '@petstore/client'
import { memo, useState } from 'react'
import { useReadable } from '../data/observable.ts'
import type { DeliveriesSnapshot, DeliveryList } from '../data/webhooks/delivery-list.ts'
import { subjectWords } from '../data/webhooks/webhook-words.ts'
import { useSession } from '../session/session-context.ts'
import { Moment } from '../ui/changes.tsx'
import { useNow } from '../ui/hooks.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { CameBack, Outcome } from './came-back.tsx'
import '../ui/changes.css'

interface Props {
  readonly list: DeliveryList
  readonly url: string
}

/** What was sent for one webhook and what came back, the newest first. */
export const Deliveries = memo(function Deliveries({ list, url }: Props) {
  const snapshot = useReadable(list)
  const { deliveries, hasMore, isLoading, failure } = snapshot
  const [isFailedOnly, setFailedOnly] = useState(false)
  const { requests } = useSession()
  const now = useNow(30_000, requests.clock.now)
  const shown = deliveries?.filter(({ delivered }) => !isFailedOnly || !delivered) ?? []
  return (
    <section className="deliveries" aria-label={`Deliveries to ${url}`}>
      <div className="deliveries__tools">
        <h3>Deliveries</h3>
        <label className="webhook-form__kind">
          <input
            type="checkbox"
            className="checkbox"
            checked={isFailedOnly}
            onChange={({ currentTarget }) => setFailedOnly(currentTarget.checked)}
          />
          Only failed
        </label>
        <button
          type="button"
          className="button button--small"
          aria-label="Refresh deliveries"
          aria-disabled={isLoading}
          onClick={() => void list.refresh()}
        >
          Refresh
        </button>
      </div>
      <p className="muted number" role="status">
        {countWords(snapshot, shown.length, isFailedOnly)}
      </p>
      {failure !== undefined && (
        <RetryNotice tone="caution" onRetry={() => void list.refresh()}>
          {failure}
        </RetryNotice>
      )}
      {shown.length > 0 && (
        <ol className="deliveries__list">
          {shown.map((delivery) => (
            <Delivery key={delivery.id} delivery={delivery} now={now} />
          ))}
        </ol>
      )}
      {hasMore && (
        <button
          type="button"
          className="button button--small deliveries__more"
          aria-disabled={isLoading}
          onClick={() => void list.loadMore()}
        >
          {isLoading ? 'Loading …' : 'Load more'}
        </button>
      )}
    </section>
  )
})

function Delivery({ delivery, now }: { readonly delivery: WebhookDelivery; readonly now: number }) {
  const { at, attempt, durationMs } = delivery
  return (
    <li className="delivery">
      <span className="delivery__subject">{subjectWords(delivery)}</span>
      <span className="delivery__outcome">
        <Outcome {...delivery} />
      </span>
      <span className="delivery__figures number">
        {attempt > 1 && <span>Attempt {attempt}</span>}
        <span>{durationMs.toLocaleString('en')} ms</span>
      </span>
      <Moment at={Date.parse(at)} now={now} />
      <div className="delivery__answer">
        <CameBack {...delivery} />
      </div>
    </li>
  )
}

function countWords(
  { deliveries, hasMore, isLoading }: DeliveriesSnapshot,
  shown: number,
  isFailedOnly: boolean,
): string {
  if (deliveries === undefined) return isLoading ? 'Loading' : ''
  if (deliveries.length === 0) return 'Nothing was sent yet. What happens from now on is, and so is a test.'
  const total = deliveries.length.toLocaleString('en')
  if (isFailedOnly) return `${shown.toLocaleString('en')} failed of the latest ${total}`
  return hasMore ? `The latest ${total}` : `${total} in all`
}
