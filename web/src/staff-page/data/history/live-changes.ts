/** After `missed`, some changes are unknown: load the list again. */
type Notice<Item> = { readonly type: 'change'; readonly change: Item } | { readonly type: 'missed' }

/** Passes each change to all subscribers. */
export class LiveChanges<Item> {
  /** A list that is loaded before this may lack changes that are never published. */
  readonly started: Promise<void>
  readonly #listeners = new Set<(notice: Notice<Item>) => void>()

  constructor(started = Promise.resolve()) {
    this.started = started
  }

  publish(notice: Notice<Item>): void {
    for (const listener of [...this.#listeners]) listener(notice)
  }

  subscribe(listener: (notice: Notice<Item>) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
