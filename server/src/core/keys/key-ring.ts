import type { Clock } from '../values/clock.ts'
import type { ApiKey } from './api-key.ts'
import type { KeyStore } from './key-store.ts'

/** The number of keys that are cached. */
const MAX_KEYS = 10_000
/** A cached key is trusted for this long, so a change or a revocation on any instance takes effect within this time. */
const TRUSTED_FOR_MS = 250
/** The store is queried for new secrets at most this often, however many unknown secrets are sent. */
const REFRESH_EVERY_MS = 50

type KeySource = Pick<KeyStore, 'findKey' | 'listSecretHashes'>

/**
 * Caches the keys in use by the hash of their secret, so that most requests do not query the store. Also holds the hashes
 * of all secrets, so that a guessed secret is refused without a lookup. Other processes add keys too: `refresh` reads the
 * hashes that were added since the last query.
 */
export class KeyRing {
  readonly #store: KeySource
  readonly #clock: Clock
  readonly #keys = new Map<string, ApiKey>()
  /** The hash of every secret in the store. 100,000 of them take about 28 MB. */
  readonly #hashes = new Set<string>()
  /** The pending lookups of the current span, by hash. Concurrent callers share a lookup. */
  readonly #lookups = new Map<string, Promise<ApiKey | undefined>>()
  /** The span of TRUSTED_FOR_MS in which `#keys` and `#lookups` were filled. */
  #span = 0
  /** The last key change that `#hashes` includes. */
  #position: bigint | undefined
  #refreshedAt = Number.NEGATIVE_INFINITY
  #nextRefresh: Promise<void> | undefined

  static async open(store: KeySource, clock: Clock): Promise<KeyRing> {
    const keys = new KeyRing(store, clock)
    await keys.#loadHashes()
    return keys
  }

  private constructor(store: KeySource, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** The key, if it was looked up within the current span. */
  findCached(hash: string): ApiKey | undefined {
    const span = Math.floor(this.#clock() / TRUSTED_FOR_MS)
    if (span !== this.#span) {
      this.#keys.clear()
      this.#lookups.clear()
      this.#span = span
    }
    return this.#keys.get(hash)
  }

  /** Whether a secret with this hash existed when the store was last queried. */
  hasHash(hash: string): boolean {
    return this.#hashes.has(hash)
  }

  /** Resolves when every secret that existed at the time of the call is known. Callers that wait together share one query. */
  refresh(): Promise<void> {
    this.#nextRefresh ??= this.#refreshInTurn()
    return this.#nextRefresh
  }

  find(hash: string): Promise<ApiKey | undefined> {
    const pending = this.#lookups.get(hash)
    if (pending !== undefined) return pending
    const lookup = this.#lookUp(hash).finally(() => {
      if (this.#lookups.get(hash) === lookup) this.#lookups.delete(hash)
    })
    this.#lookups.set(hash, lookup)
    return lookup
  }

  async #lookUp(hash: string): Promise<ApiKey | undefined> {
    const span = this.#span
    const key = await this.#store.findKey(hash)
    // A key that was looked up in an earlier span would be trusted for too long.
    if (key !== undefined && span === this.#span && this.#keys.size < MAX_KEYS) this.#keys.set(hash, key)
    if (key === undefined) this.#hashes.delete(hash)
    else this.#hashes.add(hash)
    return key
  }

  async #refreshInTurn(): Promise<void> {
    // Even a sleep of 0 ms ends the turn, so `refresh` has stored the promise before it is cleared below.
    await Bun.sleep(Math.max(0, this.#refreshedAt + REFRESH_EVERY_MS - performance.now()))
    // A caller that arrives after the query started may need a secret that the query misses.
    this.#nextRefresh = undefined
    this.#refreshedAt = performance.now()
    await this.#loadHashes()
  }

  async #loadHashes(): Promise<void> {
    const { hashes, position } = await this.#store.listSecretHashes(this.#position)
    for (const hash of hashes) this.#hashes.add(hash)
    this.#position = position
  }
}
