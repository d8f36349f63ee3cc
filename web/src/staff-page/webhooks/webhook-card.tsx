import { isPetstoreError, type Webhook, type WebhookTest } from '@petstore/client'
import { useEffect, useId, useMemo, useRef, useState } from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import { CopyButton } from '../../shared/copy-button.tsx'
import { useReadable } from '../data/observable.ts'
import { showToast } from '../data/toasts.ts'
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
import type { Webhooks } from '../data/webhooks/webhooks.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { ask } from '../ui/confirm.tsx'
import { useLostFocus } from '../ui/hooks.ts'
import { DeliveryList, TestResult } from './delivery-list.tsx'
import { WebhookForm } from './webhook-forms.tsx'

const TONES: Readonly<Record<WebhookCondition, string>> = {
  on: 'positive',
  failing: 'caution',
  paused: 'neutral',
  off: 'negative',
}

interface Props {
  readonly webhook: Webhook
  readonly webhooks: Webhooks
  readonly secret: string | undefined
  readonly now: number
  /** The card is gone, and the focus with it. */
  readonly onRemoved: () => void
}

/** One webhook: its state, its actions, its deliveries. */
export function WebhookCard({ webhook, webhooks, secret, now, onRemoved }: Props) {
  const { id, url, kinds, paused, pauseReason } = webhook
  const { owner } = useSession()
  const managesKeys = useReadable(owner)?.permissions.includes('keys') === true
  const [isEditing, setEditing] = useState(false)
  const [work, setWork] = useState<string>()
  const [failure, setFailure] = useState<string>()
  const [test, setTest] = useState<WebhookTest>()
  const [showsDeliveries, setShowsDeliveries] = useState(false)
  const deliveries = useMemo(() => webhooks.deliveries(id), [webhooks, id])
  const card = useRef<HTMLLIElement>(null)
  const condition = conditionOf(webhook)
  const trouble = troubleWords(webhook, now)
  useLostFocus(card, condition)

  const focusCard = () => card.current?.focus()
  const closeForm = () => {
    setEditing(false)
    focusCard()
  }
  const run = async (words: string, act: () => Promise<unknown>) => {
    if (work !== undefined) return
    setFailure(undefined)
    setWork(words)
    try {
      await act()
    } catch (error) {
      setFailure(webhookFailure(error))
      if (isPetstoreError(error, 'not_found')) {
        showToast({ name: 'webhook', text: `Somebody else has removed the webhook to ${url}.` })
        void webhooks.list.reload()
        onRemoved()
      }
    }
    setWork(undefined)
  }
  const sendTest = () =>
    run('Sending', async () => {
      setTest(undefined)
      setTest(await webhooks.test(id))
      if (showsDeliveries) await deliveries.reload()
    })
  const setPaused = (words: string, paused: boolean) => run(words, () => webhooks.update(id, { paused }))
  const takeOver = () => run('Taking over', () => webhooks.takeOver(id))
  const rotateSecret = async () => {
    const isSure = await ask(NEW_SECRET_QUESTION)
    if (isSure) await run('Making a new secret', () => webhooks.rotateSecret(id))
  }
  const remove = async () => {
    const isSure = await ask(REMOVE_QUESTION)
    if (!isSure) return
    focusCard()
    await run('Removing', async () => {
      await webhooks.remove(id)
      showToast({ name: 'webhook', text: `The webhook to ${url} is removed.` })
      onRemoved()
    })
  }
  const sendAgain = (messageId: string) =>
    run('Sending again', async () => {
      await webhooks.replay(id, messageId)
      showToast({ name: 'webhook', text: 'This event and all later ones are sent again.' })
    })
  const toggleDeliveries = () => {
    setShowsDeliveries(!showsDeliveries)
    if (!showsDeliveries) void deliveries.reload()
  }
  const action = (label: string, onClick: () => unknown, isOpen?: boolean) => (
    <Button
      size="small"
      tone={label === 'Turn on' ? 'primary' : 'plain'}
      aria-label={`${label}: ${url}`}
      aria-expanded={isOpen}
      isDisabled={work !== undefined}
      onClick={() => void onClick()}
    >
      {label}
    </Button>
  )
  return (
    <li ref={card} className="card card__body webhook stack" tabIndex={-1} aria-label={`Webhook to ${url}`}>
      <div className="webhook__head">
        <h2>{url}</h2>
        <span className={`badge badge--${TONES[condition]}`}>{CONDITION_WORDS[condition]}</span>
      </div>
      <p className="muted">{kindsWords(kinds)}</p>
      <p className="cluster number">
        <span>{behindWords(webhook, now)}</span>
        {condition === 'failing' && <span>{nextAttemptWords(webhook, now)}</span>}
        {paused && condition === 'paused' && (
          <span>Nothing is sent until you resume it. Nothing is lost.</span>
        )}
      </p>
      {trouble !== undefined && (
        <div className={`notice notice--${condition === 'off' ? 'negative' : 'caution'}`}>
          <Icon name="warning" />
          <span className="grow">{trouble}</span>
        </div>
      )}
      {secret !== undefined && (
        <Secret
          key={secret}
          secret={secret}
          url={url}
          onKept={() => {
            webhooks.hideSecret(id)
            focusCard()
          }}
        />
      )}
      <div className="cluster">
        {condition === 'off' && action('Turn on', () => setPaused('Turning on', false))}
        {action('Send test event', sendTest)}
        {action('Deliveries', toggleDeliveries, showsDeliveries)}
        {pauseReason !== undefined && managesKeys && action('Take over', takeOver)}
        {paused && condition === 'paused' && action('Resume', () => setPaused('Resuming', false))}
        {(condition === 'on' || condition === 'failing') && action('Pause', () => setPaused('Pausing', true))}
        {action('Edit', () => setEditing(true), isEditing)}
        {action('New secret', rotateSecret)}
        {action('Remove', remove)}
        <span className="cluster muted" role="status">
          {work !== undefined && (
            <>
              <span className="spinner" aria-hidden="true" />
              {work}
            </>
          )}
        </span>
      </div>
      {failure !== undefined && (
        <p className="negative small" role="alert">
          {failure}
        </p>
      )}
      {isEditing && (
        <div className="webhook-panel panel stack">
          <WebhookForm
            title="Edit the webhook"
            first={webhook}
            submitWords="Save"
            onSubmit={async (draft) => {
              await webhooks.update(id, draft)
              closeForm()
            }}
            onLeave={closeForm}
          />
        </div>
      )}
      <div role="status">{test !== undefined && <TestResult test={test} />}</div>
      {showsDeliveries && <DeliveryList list={deliveries} url={url} onSendAgain={sendAgain} />}
    </li>
  )
}

const NEW_SECRET_QUESTION = {
  title: 'Make a new secret?',
  text: [
    'It is shown once. For 24 hours every delivery is signed with both secrets, so that the receiver can switch in that time. Then the old secret is no longer valid.',
  ],
  yes: 'Make a new secret',
  no: 'Not now',
}

const REMOVE_QUESTION = {
  title: 'Remove this webhook?',
  text: [
    'Events that were not sent yet are never sent, and its deliveries are deleted. This cannot be undone.',
  ],
  yes: 'Remove',
  no: 'Keep it',
}

interface SecretProps {
  readonly secret: string
  readonly url: string
  readonly onKept: () => void
}

/** Shows a secret until the user has kept it. */
function Secret({ secret, url, onKept }: SecretProps) {
  const box = useRef<HTMLFieldSetElement>(null)
  const id = useId()
  useEffect(() => {
    box.current?.focus()
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <fieldset ref={box} className="panel stack webhook-secret" tabIndex={-1} aria-describedby={id}>
      <legend className="visually-hidden">Secret of the webhook to {url}</legend>
      <p id={id}>
        <strong>Keep this secret now: it is not shown again.</strong> The receiver needs it to check that a
        delivery really comes from this shop.
      </p>
      <div className="cluster">
        <code className="webhook-secret__text">{secret}</code>
        <CopyButton text={secret} what="the secret" />
      </div>
      <Button size="small" onClick={onKept}>
        I have kept it
      </Button>
    </fieldset>
  )
}
