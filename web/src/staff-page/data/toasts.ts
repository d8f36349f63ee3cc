import { Observable } from './observable.ts'

export interface Toast {
  /** A toast replaces the toast with the same name. */
  readonly name: string
  readonly text: string
  readonly tone?: 'plain' | 'negative'
  readonly action?: { readonly label: string; readonly run: () => void } | undefined
}

const SHOWN_FOR_MS = 8_000

export const shownToasts = new Observable<readonly Toast[]>([])
const timers = new Map<string, ReturnType<typeof setTimeout>>()

/** Shows a message for a few seconds. Its action must be possible elsewhere too. */
export function showToast(toast: Toast): void {
  shownToasts.set([...shownToasts.get().filter(({ name }) => name !== toast.name), toast])
  clearTimeout(timers.get(toast.name))
  timers.set(
    toast.name,
    setTimeout(() => hideToast(toast.name), SHOWN_FOR_MS),
  )
}

export function showProblem(name: string, text: string, action?: Toast['action']): void {
  showToast({ name, tone: 'negative', text, action })
}

export function hideToast(name: string): void {
  clearTimeout(timers.get(name))
  timers.delete(name)
  shownToasts.set(shownToasts.get().filter((toast) => toast.name !== name))
}

export function hideAllToasts(): void {
  for (const { name } of shownToasts.get()) hideToast(name)
}
