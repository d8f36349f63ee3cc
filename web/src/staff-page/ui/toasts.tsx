import { type FocusEvent, useRef } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { hideToast, shownToasts } from '../data/toasts.ts'
import { Button } from './button.tsx'

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
            <Button size="small" onClick={withFocusReturned(action.run)}>
              {action.label}
            </Button>
          )}
          <Button
            tone="quiet"
            size="small"
            icon="close"
            aria-label="Dismiss"
            onClick={withFocusReturned(() => hideToast(name))}
          />
        </div>
      ))}
    </div>
  )
}
