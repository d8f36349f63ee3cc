import type { NewWebhook } from '@petstore/client'
import { useEffect, useRef, useState } from 'react'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import { FIRST_KINDS } from '../data/webhooks/webhook-words.ts'
import { useSession } from '../session/session-context.ts'
import { useNow } from '../ui/hooks.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { WebhookCard } from './webhook-card.tsx'
import { WebhookForm } from './webhook-form.tsx'
import './webhooks.css'

/** How far they are behind changes all the time; a look is a request of the key's limit. */
const LOOK_EVERY_MS = 30_000
const FIRST_DRAFT: NewWebhook = { url: '', kinds: FIRST_KINDS }
const DOCS = '/docs#/guides/webhooks'

/** Whom the shop tells what happens in it. */
export function WebhooksView() {
  const owner = useReadable(useSession().owner)
  const mayChange = owner?.permissions.includes('webhooks')
  return (
    <section className="view webhooks" aria-label="Webhooks">
      {mayChange === true && <Webhooks />}
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

function Webhooks() {
  const { webhooks: list, requests } = useSession()
  const { phase, webhooks, failure, secrets } = useReadable(list)
  const [isMaking, setMaking] = useState(false)
  const now = useNow(1_000, requests.clock.now)
  const make = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    void list.refresh()
    return list.follow(LOOK_EVERY_MS)
  }, [list])
  const create = async (draft: NewWebhook) => {
    await list.create(draft)
    setMaking(false)
  }
  const leave = () => {
    setMaking(false)
    make.current?.focus()
  }
  return (
    <>
      <div className="webhooks__head">
        <h1>Webhooks</h1>
        <button type="button" className="button" onClick={() => void list.refresh()}>
          Refresh
        </button>
        <button
          ref={make}
          type="button"
          className="button button--primary"
          aria-expanded={isMaking}
          onClick={() => setMaking(true)}
        >
          <Icon name="plus" />
          New webhook
        </button>
      </div>
      {failure !== undefined && (
        <RetryNotice tone="caution" onRetry={() => void list.refresh()}>
          {failure}
        </RetryNotice>
      )}
      {isMaking && (
        <div className="card webhooks__new">
          <WebhookForm
            title="New webhook"
            first={FIRST_DRAFT}
            submitWords="Make the webhook"
            onSubmit={create}
            onLeave={leave}
          />
        </div>
      )}
      {phase === 'loading' && <Loading />}
      {phase === 'ready' && webhooks.length === 0 && !isMaking && <Empty />}
      {webhooks.length > 0 && (
        <ul className="webhooks__list" aria-label="Webhooks">
          {webhooks.map((webhook) => (
            <WebhookCard
              key={String(webhook.id)}
              webhook={webhook}
              webhooks={list}
              secret={secrets.get(webhook.id)}
              now={now}
              onRemoved={() => make.current?.focus()}
            />
          ))}
        </ul>
      )}
    </>
  )
}

function Empty() {
  return (
    <div className="card empty">
      <p className="empty__title">No webhooks yet</p>
      <p className="webhooks__about">
        A webhook tells another system what happens here, at the moment it happens: an online shop that shows
        the same stock, a supplier when something runs low, a chat when an order comes in.
      </p>
      <a href={DOCS}>How webhooks work</a>
    </div>
  )
}

function Loading() {
  return (
    <div className="webhooks__list" role="status" aria-label="Loading the webhooks">
      <span className="skeleton" />
      <span className="skeleton" />
    </div>
  )
}
