import { Observable } from './observable.ts'

export interface Toast {
  /** Another toast under the same name takes its place. */
  readonly name: string
  readonly text: string
  readonly tone?: 'plain' | 'negative'
  readonly action?: { readonly label: string; readonly run: () => void }
}

const SHOWN_FOR_MS = 8_000

export const shownToasts = new Observable<readonly Toast[]>([])
const timers = new Map<string, ReturnType<typeof setTimeout>>()

/** Says something in passing. Whatever it offers can be reached elsewhere too, since it goes by itself. */
export function showToast(toast: Toast): void {
  shownToasts.set([...shownToasts.get().filter(({ name }) => name !== toast.name), toast])
  clearTimeout(timers.get(toast.name))
  timers.set(
    toast.name,
    setTimeout(() => hideToast(toast.name), SHOWN_FOR_MS),
  )
}

export function hideToast(name: string): void {
  clearTimeout(timers.get(name))
  timers.delete(name)
  shownToasts.set(shownToasts.get().filter((toast) => toast.name !== name))
}

export function hideAllToasts(): void {
  for (const { name } of shownToasts.get()) hideToast(name)
}
