import { useEffect } from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import { offWords } from '../data/webhooks/webhook-words.ts'
import { useSession } from '../session/session-context.ts'
import { href } from '../ui/navigation.ts'

/** Each reload is a request that counts against the key's limit. */
const RELOAD_EVERY_MS = 5 * 60_000

/** Says in a line that a webhook is off, if the key may change webhooks. */
export function WebhookNotice() {
  const { webhooks, owner } = useSession()
  const mayChange = useReadable(owner)?.permissions.includes('webhooks') === true
  const words = offWords(useReadable(webhooks.list).rows)
  useEffect(() => {
    if (mayChange) return webhooks.follow(RELOAD_EVERY_MS)
  }, [webhooks, mayChange])
  if (!mayChange || words === undefined) return null
  return (
    <div className="notice notice--caution">
      <Icon name="warning" />
      <span className="grow">{words}</span>
      <a className="button button--small" href={href({ view: 'webhooks' })}>
        See webhooks
      </a>
    </div>
  )
}
