import { isPetstoreError, type Webhook, type WebhookTest, type WebhookUpdate } from '@petstore/client'
import { useMemo, useRef, useState } from 'react'
import { Icon } from '../../design/icon.tsx'
import { showToast } from '../data/toasts.ts'
import { DeliveryList } from '../data/webhooks/delivery-list.ts'
import type { WebhookList } from '../data/webhooks/webhook-list.ts'
import {
  behindWords,
  CONDITION_WORDS,
  conditionOf,
  kindsWords,
  nextAttemptWords,
  troubleWords,
  type WebhookCondition,
  webhookFailure,
} from '../data/webhooks/webhook-words.ts'
import { useLostFocus } from '../ui/hooks.ts'
import { CameBack, Outcome } from './came-back.tsx'
import { Deliveries } from './deliveries.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { WebhookQuestion } from './webhook-question.tsx'
import { WebhookSecret } from './webhook-secret.tsx'

const DELIVERIES_A_PAGE = 25

const TONES: Readonly<Record<WebhookCondition, string>> = {
  on: 'positive',
  failing: 'caution',
  paused: 'neutral',
  off: 'negative',
}

interface Props {
  readonly webhook: Webhook
  readonly webhooks: WebhookList
  readonly secret: string | undefined
  readonly now: number
  /** It is gone, and the focus with it. */
  readonly onRemoved: () => void
}

type Panel = 'change' | 'new secret' | 'remove'

/** One webhook: how it stands, what can be done with it, what was sent for it. */
export function WebhookCard({ webhook, webhooks, secret, now, onRemoved }: Props) {
  const { id, url, kinds } = webhook
  const [panel, setPanel] = useState<Panel>()
  const [work, setWork] = useState<string>()
  const [failure, setFailure] = useState<string>()
  const [tested, setTested] = useState<WebhookTest>()
  const [hasDeliveries, setDeliveries] = useState(false)
  const list = useMemo(
    () => new DeliveryList((cursor) => webhooks.deliveries(id, cursor, DELIVERIES_A_PAGE)),
    [webhooks, id],
  )
  const card = useRef<HTMLLIElement>(null)
  const condition = conditionOf(webhook)
  const trouble = troubleWords(webhook, now)
  useLostFocus(card, condition)

  const leave = () => {
    setPanel(undefined)
    card.current?.focus()
  }
  const begin = async (words: string, act: () => Promise<unknown>) => {
    if (work !== undefined) return
    setPanel(undefined)
    setFailure(undefined)
    setWork(words)
    try {
      await act()
    } catch (error) {
      setFailure(webhookFailure(error))
      if (isPetstoreError(error, 'not_found')) goneElsewhere()
    }
    setWork(undefined)
  }
  const goneElsewhere = () => {
    showToast({ name: 'webhook', text: `Somebody else has removed the webhook to ${url}.` })
    void webhooks.refresh()
    onRemoved()
  }
  const test = () =>
    begin('Testing', async () => {
      setTested(undefined)
      setTested(await webhooks.test(id))
      if (hasDeliveries) await list.refresh()
    })
  const change = (words: string, update: WebhookUpdate) => begin(words, () => webhooks.change(id, update))
  const remove = () => {
    card.current?.focus()
    return begin('Removing', async () => {
      await webhooks.remove(id)
      showToast({ name: 'webhook', text: `The webhook to ${url} is removed.` })
      onRemoved()
    })
  }
  const save = async (draft: Pick<Webhook, 'url' | 'kinds'>) => {
    await webhooks.change(id, draft)
    leave()
  }
  const toggleDeliveries = () => {
    setDeliveries(!hasDeliveries)
    if (!hasDeliveries) void list.refresh()
  }
  const button = (label: string, onClick: () => void, more: Partial<ButtonProps> = {}) => (
    <Button label={label} url={url} isWaiting={work !== undefined} onClick={onClick} {...more} />
  )
  return (
    <li ref={card} className="card webhook" tabIndex={-1} aria-label={`Webhook to ${url}`}>
      <div className="webhook__head">
        <h2 className="webhook__url">{url}</h2>
        <span className={`badge badge--${TONES[condition]}`}>{CONDITION_WORDS[condition]}</span>
      </div>
      <p className="muted">{kindsWords(kinds)}</p>
      <p className="webhook__progress number">
        <span>{behindWords(webhook, now)}</span>
        {condition === 'failing' && <span>{nextAttemptWords(webhook, now)}</span>}
        {condition === 'paused' && <span>Nothing is sent until it goes on, from where it stopped</span>}
      </p>
      {trouble !== undefined && (
        <div className={`notice notice--${condition === 'off' ? 'negative' : 'caution'}`}>
          <Icon name="warning" />
          <span className="webhook__trouble">{trouble}</span>
        </div>
      )}
      {secret !== undefined && (
        <WebhookSecret
          key={secret}
          secret={secret}
          url={url}
          onKept={() => {
            webhooks.hideSecret(id)
            card.current?.focus()
          }}
        />
      )}
      <div className="webhook__actions">
        {condition === 'off' &&
          button('Turn on again', () => void change('Turning on', { paused: false }), {
            isPrimary: true,
          })}
        {button('Test', () => void test())}
        {button('Deliveries', toggleDeliveries, { isOpen: hasDeliveries })}
        {condition === 'paused' && button('Go on', () => void change('Going on', { paused: false }))}
        {(condition === 'on' || condition === 'failing') &&
          button('Pause', () => void change('Pausing', { paused: true }))}
        {button('Change', () => setPanel('change'))}
        {button('New secret', () => setPanel('new secret'))}
        {button('Remove', () => setPanel('remove'))}
        <span className="webhook__work muted" role="status">
          {work !== undefined && (
            <>
              <span className="spinner" aria-hidden="true" />
              {work}
            </>
          )}
        </span>
      </div>
      {failure !== undefined && (
        <p className="field__error" role="alert">
          {failure}
        </p>
      )}
      {panel === 'change' && (
        <div className="webhook__change">
          <WebhookForm
            title="Change the webhook"
            first={webhook}
            submitWords="Save"
            onSubmit={save}
            onLeave={leave}
          />
        </div>
      )}
      {panel === 'new secret' && (
        <WebhookQuestion
          yes="Yes, make a new secret"
          no="Not now"
          onYes={() => void begin('Making a new secret', () => webhooks.rotateSecret(id))}
          onNo={leave}
        >
          Make a new secret? It is shown once. For 24 hours every delivery is signed with both, so that the
          receiver has the time to take on the new one; then the old one counts no more.
        </WebhookQuestion>
      )}
      {panel === 'remove' && (
        <WebhookQuestion
          yes="Yes, remove it"
          no="Keep it"
          isDangerous
          onYes={() => void remove()}
          onNo={leave}
        >
          Remove this webhook? What it has not been told yet is never sent, and its deliveries are forgotten.
          This cannot be undone.
        </WebhookQuestion>
      )}
      <div role="status">{tested !== undefined && <TestResult tested={tested} />}</div>
      {hasDeliveries && <Deliveries list={list} url={url} />}
    </li>
  )
}

function TestResult({ tested }: { readonly tested: WebhookTest }) {
  return (
    <div className="webhook-test">
      <span className="webhook-test__outcome">
        <strong>Test</strong>
        <Outcome {...tested} />
        <span className="muted number">{tested.durationMs.toLocaleString('en')} ms</span>
      </span>
      <CameBack {...tested} />
    </div>
  )
}

interface ButtonProps {
  readonly label: string
  readonly url: string
  readonly isWaiting: boolean
  readonly isPrimary?: boolean
  /** Of one that opens and closes something. */
  readonly isOpen?: boolean
  readonly onClick: () => void
}

function Button({ label, url, isWaiting, isPrimary = false, isOpen, onClick }: ButtonProps) {
  return (
    <button
      type="button"
      className={`button button--small${isPrimary ? ' button--primary' : ''}`}
      aria-label={`${label}: ${url}`}
      aria-disabled={isWaiting}
      aria-expanded={isOpen}
      onClick={onClick}
    >
      {label}
    </button>
  )
}
