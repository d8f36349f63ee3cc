import { type FormEvent, useState } from 'preact/compat'
import { refusalOf } from '../data/webhooks/webhook-words.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'

const HOUR = 3_600_000

interface Props {
  readonly now: number
  /** Rejects if the service refuses it. */
  readonly onSubmit: (since: Date) => Promise<void>
  readonly onLeave: () => void
}

/** Sends the events since a time again, such as after the receiver has lost some. */
export function RedeliverForm({ now, onSubmit, onLeave }: Props) {
  const [since, setSince] = useState(() => localTime(now - HOUR))
  const [problem, setProblem] = useState<string>()
  const [isSending, setSending] = useState(false)
  const send = async () => {
    const time = new Date(since)
    if (Number.isNaN(time.getTime())) return setProblem('Choose a day and a time.')
    setProblem(undefined)
    setSending(true)
    try {
      await onSubmit(time)
    } catch (error) {
      setProblem(refusalOf(error).words)
      setSending(false)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isSending) void send()
  }
  return (
    <form
      className="stack"
      aria-label="Send again"
      noValidate
      onSubmit={submit}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onLeave()
      }}
    >
      <Field
        label="Send everything again since"
        hint="The receiver gets these events a second time, in the same order."
        problem={problem}
      >
        {(control) => (
          <input
            {...control}
            ref={focusOnce}
            className="input number"
            type="datetime-local"
            value={since}
            onChange={({ currentTarget }) => setSince(currentTarget.value)}
          />
        )}
      </Field>
      <div className="cluster">
        <Button type="submit" tone="primary" isBusy={isSending}>
          Send again
        </Button>
        <Button onClick={onLeave}>Cancel</Button>
      </div>
    </form>
  )
}

/** A module function, so that Preact calls it only when the field appears. */
function focusOnce(field: HTMLInputElement | null): void {
  field?.focus()
}

/** Local time to the minute, as `datetime-local` takes it. */
function localTime(at: number): string {
  const offset = new Date(at).getTimezoneOffset() * 60_000
  return new Date(at - offset).toISOString().slice(0, 16)
}
