import type { PetstoreClient } from '@petstore/client'
import { State } from './observable.ts'

type Names = ReadonlyMap<string, string>

/** The names of people by the ids of their keys, also of people who were removed. */
export class KeyNames extends State<Names> {
  readonly #keys: Pick<PetstoreClient['keys'], 'names'>
  readonly #signal: AbortSignal
  /** Ids that a load has already looked for. */
  readonly #requested = new Set<string>()

  constructor(keys: Pick<PetstoreClient['keys'], 'names'>, signal: AbortSignal) {
    super(new Map())
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
      this.setValue(names)
    } catch {
      // The next rows that need these names try again.
      for (const id of unknown) this.#requested.delete(id)
    }
  }
}
