import type { PetstoreClient } from '@petstore/client'
import { Observable, type Readable } from './observable.ts'

type Names = ReadonlyMap<string, string>

/** The names of people by the ids of their keys, also of people who were removed. */
export class KeyNames implements Readable<Names> {
  readonly #names = new Observable<Names>(new Map())
  readonly #keys: Pick<PetstoreClient['keys'], 'names'>
  readonly #signal: AbortSignal
  /** Ids that a load has already looked for. */
  readonly #requested = new Set<string>()

  readonly get = this.#names.get
  readonly subscribe = this.#names.subscribe

  constructor(keys: Pick<PetstoreClient['keys'], 'names'>, signal: AbortSignal) {
    this.#keys = keys
    this.#signal = signal
  }

  /** Loads the names if one of these ids is new. */
  async load(keyIds: readonly string[]): Promise<void> {
    const unknown = keyIds.filter((id) => !this.#requested.has(id))
    if (unknown.length === 0) return
    for (const id of unknown) this.#requested.add(id)
    try {
      const names = new Map<string, string>()
      for await (const { id, name } of this.#keys.names({ signal: this.#signal })) names.set(id, name)
      this.#names.set(names)
    } catch {
      // The next rows that need these names try again.
      for (const id of unknown) this.#requested.delete(id)
    }
  }
}
