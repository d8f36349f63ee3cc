import { Icon } from '../../design/icon.tsx'
import { SalesNotice } from '../sell/sales-notice.tsx'
import { useRequestState, useSession, useStock } from '../session/session-context.ts'
import { RequestNotice } from '../ui/request-notice.tsx'
import { WebhookNotice } from '../webhooks/webhook-notice.tsx'

/** What keeps the page from working at the moment, and when or how it goes on. */
export function Notices() {
  const { feed } = useSession()
  const { connection } = useStock()
  const requests = useRequestState()
  return (
    <div className="notices" role="status">
      <RequestNotice state={requests} />
      {(connection === 'lost' || requests.isUnreachable) && (
        <div className="notice notice--negative">
          <Icon name="warning" />
          <span className="notices__text">
            Connection lost. What you see may be out of date; the page reconnects by itself.
          </span>
          <button type="button" className="button button--small" onClick={feed.reconnectNow}>
            Reconnect now
          </button>
        </div>
      )}
      <SalesNotice />
      <WebhookNotice />
    </div>
  )
}
