import { useEffect, useRef } from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import type { EditState } from '../data/stock/stock-editor.ts'
import { hideToast, showToast } from '../data/toasts.ts'
import { useRequestState, useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { goTo } from '../ui/navigation.ts'
import { RequestNotice } from '../ui/notices.tsx'
import { WebhookNotice } from '../webhooks/webhook-notice.tsx'
import { WorkNotice } from './work-notice.tsx'

/** Says why the page cannot work at the moment, and how it recovers. */
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
          <span className="grow">
            Connection lost. What you see may be out of date; the page reconnects by itself.
          </span>
          <Button size="small" onClick={feed.reconnectNow}>
            Reconnect now
          </Button>
        </div>
      )}
      <WorkNotice />
      <WebhookNotice />
    </div>
  )
}

/** Says on every view why a change was not saved: the row has no room for it, or is not visible. */
export function FailureToasts() {
  const { editor, stock } = useSession()
  const edits = useReadable(editor)
  const announced = useRef(new WeakSet<EditState>())
  const shown = useRef<readonly [petId: bigint, state: EditState]>(undefined)
  useEffect(() => {
    if (shown.current !== undefined && edits.get(shown.current[0]) !== shown.current[1]) {
      shown.current = undefined
      hideToast('failure')
    }
    for (const [petId, state] of edits) {
      const reason = failureReason(state)
      if (reason === undefined || announced.current.has(state)) continue
      announced.current.add(state)
      shown.current = [petId, state]
      showToast({
        name: 'failure',
        tone: 'negative',
        text: `${stock.nameOf(petId)} was not saved. ${reason}`,
        action: { label: 'Show', run: () => goTo({ view: 'pet', petId }) },
      })
    }
  }, [edits, stock])
  return null
}

function failureReason(state: EditState): string | undefined {
  if (state.kind === 'failed') return state.reason
  if (state.kind !== 'conflict') return undefined
  return `Somebody else set it to ${state.theirs.toLocaleString('en')}: choose which one to keep.`
}
