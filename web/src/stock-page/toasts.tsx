import { type FocusEvent, useRef } from 'react'
import { Icon } from '../design/icon.tsx'
import { Observable, useReadable } from './stock/observable.ts'

export interface Toast {
  /** Another toast under the same name takes its place. */
  readonly name: string
  readonly text: string
  readonly tone?: 'plain' | 'negative'
  readonly action?: { readonly label: string; readonly run: () => void }
}

const SHOWN_FOR_MS = 8_000

const shown = new Observable<readonly Toast[]>([])
const timers = new Map<string, ReturnType<typeof setTimeout>>()

/** Says something in passing. Whatever it offers can be reached elsewhere too, since it goes by itself. */
export function showToast(toast: Toast): void {
  shown.set([...shown.get().filter(({ name }) => name !== toast.name), toast])
  clearTimeout(timers.get(toast.name))
  timers.set(
    toast.name,
    setTimeout(() => hideToast(toast.name), SHOWN_FOR_MS),
  )
}

export function hideToast(name: string): void {
  clearTimeout(timers.get(name))
  timers.delete(name)
  shown.set(shown.get().filter((toast) => toast.name !== name))
}

export function hideAllToasts(): void {
  for (const { name } of shown.get()) hideToast(name)
}

export function Toasts() {
  const toasts = useReadable(shown)
  const before = useRef<HTMLElement>(null)
  const remember = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (relatedTarget instanceof HTMLElement && !currentTarget.contains(relatedTarget)) {
      before.current = relatedTarget
    }
  }
  /** What was pressed goes with the toast, so whatever had the focus before has it again. */
  const giveBack = (act: () => void) => () => {
    before.current?.focus({ preventScroll: true })
    act()
  }
  return (
    <div className="toasts" role="status" onFocus={remember}>
      {toasts.map(({ name, text, tone, action }) => (
        <div key={name} className={tone === 'negative' ? 'toast toast--negative' : 'toast'}>
          <span className="toast__text">{text}</span>
          {action !== undefined && (
            <button type="button" className="button button--small" onClick={giveBack(action.run)}>
              {action.label}
            </button>
          )}
          <button
            type="button"
            className="button button--quiet button--icon button--small"
            aria-label="Dismiss"
            onClick={giveBack(() => hideToast(name))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
