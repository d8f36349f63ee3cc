import type { Change } from './change-log.ts'

/** After `missed`, some changes are unknown: load the list again. */
export type Notice<Reported> =
  | { readonly type: 'change'; readonly change: Reported }
  | { readonly type: 'missed' }

/** Passes each change to all subscribers; changes of the stock by default. */
export class LiveChanges<Reported = Change> {
  readonly #listeners = new Set<(notice: Notice<Reported>) => void>()

  tell(notice: Notice<Reported>): void {
    for (const listener of [...this.#listeners]) listener(notice)
  }

  subscribe(listener: (notice: Notice<Reported>) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
