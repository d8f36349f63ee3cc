import type { NewWebhook } from '@petstore/client'
import { useEffect, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { FIRST_KINDS } from '../data/webhooks/webhook-words.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { useNow } from '../ui/hooks.ts'
import { Empty } from '../ui/list-frame.tsx'
import { RetryNotice } from '../ui/notices.tsx'
import { WebhookCard } from './webhook-card.tsx'
import { WebhookForm } from './webhook-forms.tsx'
import './webhooks.css'

/** Each reload is a request that counts against the key's limit. */
const RELOAD_EVERY_MS = 30_000

export function WebhooksView() {
  const owner = useReadable(useSession().owner)
  const mayChange = owner?.permissions.includes('webhooks')
  return (
    <section className="view webhooks" aria-label="Webhooks">
      {mayChange === true && <WebhookCards />}
      {mayChange === false && (
        <div className="card empty">
          <h1 className="empty__title">This key may not see webhooks</h1>
          <p>Sign in with one that may.</p>
        </div>
      )}
      {mayChange === undefined && <Loading />}
    </section>
  )
}

function WebhookCards() {
  const { webhooks, requests } = useSession()
  const { list } = webhooks
  const { phase, rows, failure } = useReadable(list)
  const secrets = useReadable(webhooks.secrets)
  const [isCreating, setCreating] = useState(false)
  const now = useNow(1_000, requests.clock.now)
  const createButton = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    void list.reload()
    return webhooks.follow(RELOAD_EVERY_MS)
  }, [webhooks, list])
  const create = async (draft: NewWebhook) => {
    await webhooks.create(draft)
    setCreating(false)
  }
  const focusCreate = () => createButton.current?.focus()
  return (
    <>
      <div className="cluster view__head">
        <h1>Webhooks</h1>
        <Button onClick={() => void list.reload()}>Refresh</Button>
        <Button
          ref={createButton}
          tone="primary"
          icon="plus"
          aria-expanded={isCreating}
          onClick={() => setCreating(true)}
        >
          New webhook
        </Button>
      </div>
      <RetryNotice tone="caution" onRetry={() => void list.reload()}>
        {failure}
      </RetryNotice>
      {isCreating && (
        <div className="card card__body webhook">
          <WebhookForm
            title="New webhook"
            first={{ url: '', kinds: FIRST_KINDS }}
            submitWords="Create the webhook"
            onSubmit={create}
            onLeave={() => {
              setCreating(false)
              focusCreate()
            }}
          />
        </div>
      )}
      {phase === 'loading' && <Loading />}
      {phase === 'ready' && rows.length === 0 && !isCreating && <NoWebhooks />}
      {rows.length > 0 && (
        <ul className="stack" aria-label="Webhooks">
          {rows.map((webhook) => (
            <WebhookCard
              key={String(webhook.id)}
              webhook={webhook}
              webhooks={webhooks}
              secret={secrets.get(webhook.id)}
              now={now}
              onRemoved={focusCreate}
            />
          ))}
        </ul>
      )}
    </>
  )
}

function NoWebhooks() {
  return (
    <div className="card">
      <Empty title="No webhooks yet">
        <p>
          A webhook informs another system at once about what happens here: an online shop that shows the same
          stock, a supplier when something runs low, a chat when an order comes in.
        </p>
        <a href="/docs#/guides/webhooks">How webhooks work</a>
      </Empty>
    </div>
  )
}

function Loading() {
  return (
    <div className="card list__loading" role="status" aria-label="Loading webhooks">
      <span className="skeleton" />
      <span className="skeleton" />
    </div>
  )
}
