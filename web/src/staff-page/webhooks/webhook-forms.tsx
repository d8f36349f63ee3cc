import type { NewWebhook, WebhookKind } from '@petstore/client'
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'preact/compat'
import { KIND_GROUPS, KIND_WORDS, type Refusal, refusalOf } from '../data/webhooks/webhook-words.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'

interface FormFrameProps {
  readonly label: string
  readonly submitWords: string
  /** Never rejects. */
  readonly onSubmit: () => Promise<void>
  readonly onLeave: () => void
  /** What is wrong, unless it is about a field. */
  readonly problem?: string | undefined
  readonly children: ReactNode
}

/** A form that sends one request at a time. Escape leaves it. */
function FormFrame({ label, submitWords, onSubmit, onLeave, problem, children }: FormFrameProps) {
  const [isSending, setSending] = useState(false)
  const send = async () => {
    setSending(true)
    await onSubmit()
    setSending(false)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isSending) void send()
  }
  return (
    <form
      className="stack"
      aria-label={label}
      noValidate
      onSubmit={submit}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onLeave()
      }}
    >
      {children}
      <div className="cluster">
        <Button type="submit" tone="primary" isBusy={isSending}>
          {submitWords}
        </Button>
        <Button onClick={onLeave}>Cancel</Button>
        <p className="negative small" role="alert">
          {problem}
        </p>
      </div>
    </form>
  )
}

interface WebhookFormProps {
  readonly title: string
  readonly first: NewWebhook
  readonly submitWords: string
  /** Rejects if the service refuses the draft: the form stays open and shows why. */
  readonly onSubmit: (draft: NewWebhook) => Promise<void>
  readonly onLeave: () => void
}

export function WebhookForm({ title, first, submitWords, onSubmit, onLeave }: WebhookFormProps) {
  const [url, setUrl] = useState(first.url)
  const [kinds, setKinds] = useState<ReadonlySet<WebhookKind>>(new Set(first.kinds))
  const [refusal, setRefusal] = useState<Refusal>()
  const address = useRef<HTMLInputElement>(null)
  const choices = useRef<HTMLFieldSetElement>(null)
  const id = useId()
  useEffect(() => address.current?.focus(), [])

  const refuse = (reason: Refusal) => {
    setRefusal(reason)
    if (reason.field === 'url') address.current?.focus()
    if (reason.field === 'kinds') choices.current?.querySelector('input')?.focus()
  }
  const send = async () => {
    const draft = { url: url.trim(), kinds: [...kinds] }
    if (draft.url === '') return refuse({ field: 'url', words: 'Enter the address of the receiver.' })
    if (draft.kinds.length === 0) return refuse({ field: 'kinds', words: 'Choose at least one.' })
    setRefusal(undefined)
    try {
      await onSubmit(draft)
    } catch (error) {
      refuse(refusalOf(error))
    }
  }
  const choose = (kind: WebhookKind, isChosen: boolean) => {
    const chosen = new Set(kinds)
    if (isChosen) chosen.add(kind)
    else chosen.delete(kind)
    setKinds(chosen)
  }
  const problemOf = (field: Refusal['field']) => (refusal?.field === field ? refusal?.words : undefined)
  return (
    <FormFrame
      label={title}
      submitWords={submitWords}
      onSubmit={send}
      onLeave={onLeave}
      problem={problemOf(undefined)}
    >
      <h2>{title}</h2>
      <TextField
        field={address}
        label="Address of the receiver"
        type="url"
        placeholder="https://"
        hint="Ask the people who run the other system for it. It starts with https:// and is on the internet."
        problem={problemOf('url')}
        value={url}
        onChange={setUrl}
      />
      <fieldset ref={choices} className="field" aria-describedby={`${id}-kinds`}>
        <legend className="field__label">Send an event when</legend>
        <div className="webhook-kinds">
          {KIND_GROUPS.map((group) => (
            <fieldset key={group.title}>
              <legend className="muted small">{group.title}</legend>
              {group.kinds.map((kind) => (
                <label key={kind} className="choice">
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
        <p id={`${id}-kinds`} className="negative small" role="alert">
          {problemOf('kinds')}
        </p>
      </fieldset>
    </FormFrame>
  )
}
