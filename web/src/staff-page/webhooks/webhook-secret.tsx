import { useEffect, useId, useRef } from 'react'
import { CopyButton } from '../../shared/copy-button.tsx'

interface Props {
  readonly secret: string
  readonly url: string
  readonly onKept: () => void
}

/** Shows a secret until somebody says that it is kept. */
export function WebhookSecret({ secret, url, onKept }: Props) {
  const box = useRef<HTMLFieldSetElement>(null)
  const id = useId()
  useEffect(() => {
    box.current?.focus()
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <fieldset ref={box} className="webhook-secret" tabIndex={-1} aria-describedby={id}>
      <legend className="visually-hidden">Secret of the webhook to {url}</legend>
      <p id={id}>
        <strong>Keep this secret now: it is not shown again.</strong> Give it to whoever runs the other
        system. Every delivery is signed with it, so that the receiver can tell what really comes from this
        shop.
      </p>
      <div className="webhook-secret__line">
        <code className="webhook-secret__text">{secret}</code>
        <CopyButton text={secret} what="the secret" />
      </div>
      <button type="button" className="button button--small" onClick={onKept}>
        I have kept it
      </button>
    </fieldset>
  )
}
