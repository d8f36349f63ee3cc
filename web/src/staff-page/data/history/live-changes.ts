import type { Change } from './change-log.ts'

/** `missed` tells that some changes were not told of: what is shown is to be listed again. */
export type Notice<Told> = { readonly type: 'change'; readonly change: Told } | { readonly type: 'missed' }

/** Everything of one kind as the service tells of it, for whoever shows it; changes of the stock by default. */
export class LiveChanges<Told = Change> {
  readonly #listeners = new Set<(notice: Notice<Told>) => void>()

  tell(notice: Notice<Told>): void {
    for (const listener of [...this.#listeners]) listener(notice)
  }

  subscribe(listener: (notice: Notice<Told>) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
