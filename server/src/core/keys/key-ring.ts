import type { Clock } from '../values/clock.ts'
import type { ApiKey } from './api-key.ts'
import type { KeyStore } from './key-store.ts'

/** Enough for every key in use; a flood of others does not make it grow. */
const MAX_KEYS = 10_000
/** A key that is revoked anywhere stops working within this time. */
const TRUSTED_FOR_MS = 250

/** The keys in use, by hash, so that a request need not ask the store for a key that it knows. */
export class KeyRing {
  readonly #store: Pick<KeyStore, 'findKey'>
  readonly #clock: Clock
  readonly #keys = new Map<string, ApiKey>()
  /** The hashes that the store last gave a key for, however long ago. */
  readonly #seen = new Set<string>()
  /** What is known was asked for within this span of time. */
  #span = 0

  constructor(store: Pick<KeyStore, 'findKey'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** The key if the store gave it a moment ago. */
  known(hash: string): ApiKey | undefined {
    const span = Math.floor(this.#clock() / TRUSTED_FOR_MS)
    if (span !== this.#span) {
      this.#keys.clear()
      this.#span = span
    }
    return this.#keys.get(hash)
  }

  /** Whether there was such a key when the store was last asked. */
  hasSeen(hash: string): boolean {
    return this.#seen.has(hash)
  }

  async find(hash: string): Promise<ApiKey | undefined> {
    const span = this.#span
    const key = await this.#store.findKey(hash)
    // Asked for in an earlier span, it would be trusted for too long.
    if (key !== undefined && span === this.#span && this.#keys.size < MAX_KEYS) this.#keys.set(hash, key)
    if (key === undefined) this.#seen.delete(hash)
    else {
      if (this.#seen.size >= MAX_KEYS) this.#seen.clear()
      this.#seen.add(hash)
    }
    return key
  }
}
