import type { Change } from './change-log.ts'

/** `missed` tells that some changes were not told of: what is shown is to be listed again. */
export type Notice = { readonly type: 'change'; readonly change: Change } | { readonly type: 'missed' }

/** Every change of the stock as the service tells of it, for whoever shows changes. */
export class LiveChanges {
  readonly #listeners = new Set<(notice: Notice) => void>()

  tell(notice: Notice): void {
    for (const listener of [...this.#listeners]) listener(notice)
  }

  subscribe(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
