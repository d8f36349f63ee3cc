import type { NewWebhook, WebhookKind } from '@petstore/client'
import { type FormEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { KIND_GROUPS, KIND_WORDS, type Refusal, refusalOf } from '../data/webhooks/webhook-words.ts'

interface Props {
  readonly title: string
  readonly first: NewWebhook
  readonly submitWords: string
  /** Rejects where the service refuses it: the form stays, and says why at the field. */
  readonly onSubmit: (draft: NewWebhook) => Promise<void>
  readonly onLeave: () => void
}

/** Where to send, and what of. */
export function WebhookForm({ title, first, submitWords, onSubmit, onLeave }: Props) {
  const [url, setUrl] = useState(first.url)
  const [kinds, setKinds] = useState<ReadonlySet<WebhookKind>>(new Set(first.kinds))
  const [refusal, setRefusal] = useState<Refusal>()
  const [isSending, setSending] = useState(false)
  const address = useRef<HTMLInputElement>(null)
  const choices = useRef<HTMLFieldSetElement>(null)
  const id = useId()
  useEffect(() => address.current?.focus(), [])

  const refuse = (why: Refusal) => {
    setRefusal(why)
    if (why.field === 'url') address.current?.focus()
    if (why.field === 'kinds') choices.current?.querySelector('input')?.focus()
  }
  const send = async () => {
    const draft = { url: url.trim(), kinds: [...kinds] }
    if (draft.url === '') return refuse({ field: 'url', words: 'Enter the address of the receiver.' })
    if (draft.kinds.length === 0) return refuse({ field: 'kinds', words: 'Choose at least one.' })
    setRefusal(undefined)
    setSending(true)
    try {
      await onSubmit(draft)
    } catch (error) {
      refuse(refusalOf(error))
    }
    setSending(false)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isSending) void send()
  }
  const choose = (kind: WebhookKind, isChosen: boolean) => {
    const chosen = new Set(kinds)
    if (isChosen) chosen.add(kind)
    else chosen.delete(kind)
    setKinds(chosen)
  }
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === 'Escape') onLeave()
  }
  const wordsFor = (field: Refusal['field']) => (refusal?.field === field ? refusal?.words : undefined)
  return (
    <form className="webhook-form" aria-label={title} noValidate onSubmit={submit} onKeyDown={onKeyDown}>
      <h2>{title}</h2>
      <div className="field">
        <label className="field__label" htmlFor={`${id}-url`}>
          Address of the receiver
        </label>
        <input
          ref={address}
          id={`${id}-url`}
          className="input"
          type="url"
          autoComplete="off"
          spellCheck={false}
          placeholder="https://"
          value={url}
          aria-invalid={refusal?.field === 'url'}
          aria-describedby={`${id}-url-hint ${id}-url-error`}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        <span id={`${id}-url-hint`} className="field__hint">
          Whoever runs the other system knows it. It begins with https:// and can be reached from the
          internet.
        </span>
        <span id={`${id}-url-error`} className="field__error" role="alert">
          {wordsFor('url')}
        </span>
      </div>
      <fieldset ref={choices} className="field" aria-describedby={`${id}-kinds-error`}>
        <legend className="field__label">Tell it when</legend>
        <div className="webhook-form__groups">
          {KIND_GROUPS.map((group) => (
            <fieldset key={group.title} className="webhook-form__group">
              <legend className="field__hint">{group.title}</legend>
              {group.kinds.map((kind) => (
                <label key={kind} className="webhook-form__kind">
                  <input
                    type="checkbox"
                    className="checkbox"
                    checked={kinds.has(kind)}
                    onChange={({ currentTarget }) => choose(kind, currentTarget.checked)}
                  />
                  {KIND_WORDS[kind]}
                </label>
              ))}
            </fieldset>
          ))}
        </div>
        <span id={`${id}-kinds-error`} className="field__error" role="alert">
          {wordsFor('kinds')}
        </span>
      </fieldset>
      <div className="webhook-form__actions">
        <button type="submit" className="button button--primary" aria-disabled={isSending}>
          {submitWords}
        </button>
        <button type="button" className="button" onClick={onLeave}>
          Cancel
        </button>
        <span className="field__error" role="alert">
          {wordsFor(undefined)}
        </span>
      </div>
    </form>
  )
}
