import { type FocusEvent, useRef } from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import { hideToast, shownToasts } from '../data/toasts.ts'

export function Toasts() {
  const toasts = useReadable(shownToasts)
  const before = useRef<HTMLElement>(null)
  const remember = ({ currentTarget, relatedTarget }: FocusEvent<HTMLElement>) => {
    if (relatedTarget instanceof HTMLElement && !currentTarget.contains(relatedTarget)) {
      before.current = relatedTarget
    }
  }
  /** The pressed button disappears with its toast, so the focus returns to the element that had it before. */
  const withFocusReturned = (act: () => void) => () => {
    before.current?.focus({ preventScroll: true })
    act()
  }
  return (
    <div className="toasts" role="status" onFocus={remember}>
      {toasts.map(({ name, text, tone, action }) => (
        <div key={name} className={tone === 'negative' ? 'toast popup toast--negative' : 'toast popup'}>
          <span className="toast__text">{text}</span>
          {action !== undefined && (
            <button type="button" className="button button--small" onClick={withFocusReturned(action.run)}>
              {action.label}
            </button>
          )}
          <button
            type="button"
            className="button button--quiet button--icon button--small"
            aria-label="Dismiss"
            onClick={withFocusReturned(() => hideToast(name))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
