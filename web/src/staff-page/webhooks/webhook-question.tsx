import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react'

interface Props {
  readonly yes: string
  readonly no: string
  readonly isDangerous?: boolean
  readonly onYes: () => void
  readonly onNo: () => void
  readonly children: ReactNode
}

/** Asks before something that cannot be taken back. The focus is on what changes nothing. */
export function WebhookQuestion({ yes, no, isDangerous = false, onYes, onNo, children }: Props) {
  const safe = useRef<HTMLButtonElement>(null)
  const id = useId()
  useEffect(() => safe.current?.focus(), [])
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === 'Escape') onNo()
  }
  return (
    <fieldset className="webhook-question" aria-labelledby={id} onKeyDown={onKeyDown}>
      <p id={id}>{children}</p>
      <div className="webhook__actions">
        <button
          type="button"
          className={`button button--small button--${isDangerous ? 'danger' : 'primary'}`}
          aria-describedby={id}
          onClick={onYes}
        >
          {yes}
        </button>
        <button
          ref={safe}
          type="button"
          className="button button--small"
          aria-describedby={id}
          onClick={onNo}
        >
          {no}
        </button>
      </div>
    </fieldset>
  )
}
