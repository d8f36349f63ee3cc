import type { Clock } from '../values/clock.ts'
import type { ApiKey } from './api-key.ts'
import type { KeyStore } from './key-store.ts'

const MAX_CACHED_KEYS = 10_000
/** Cached keys are dropped after this time, so a change or a revocation on any instance takes effect within it. */
const CACHE_MS = 250
/** The minimum time between two queries for new secrets, however many unknown secrets are sent. */
const REFRESH_INTERVAL_MS = 50

type KeySource = Pick<KeyStore, 'findKey' | 'listSecretHashes'>

/**
 * Caches recently used keys by the hash of their secret. Also holds the hashes of all secrets, so that a guessed secret can be
 * refused without a lookup. Other processes add keys too: `refresh` reads the hashes added since the last query.
 */
export class KeyRing {
  readonly #store: KeySource
  readonly #clock: Clock
  readonly #keys = new Map<string, ApiKey>()
  /** The hash of every secret in the store. 100,000 of them take about 28 MB. */
  readonly #hashes = new Set<string>()
  /** Time is divided into periods of CACHE_MS. `#keys` and `#lookups` belong to the period with this number. */
  #period = 0
  /** The pending lookups, by hash. */
  readonly #lookups = new Map<string, Promise<ApiKey | undefined>>()
  /** Counts how often the cache was cleared. */
  #generation = 0
  /** The position in the audit log up to which `#hashes` is complete. */
  #position: bigint | undefined
  #refreshedAt = Number.NEGATIVE_INFINITY
  #nextRefresh: Promise<void> | undefined

  static async open(store: KeySource, clock: Clock): Promise<KeyRing> {
    const keyRing = new KeyRing(store, clock)
    await keyRing.#loadHashes()
    return keyRing
  }

  private constructor(store: KeySource, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** The key, if it was looked up in the current period. */
  findCached(hash: string): ApiKey | undefined {
    const period = Math.floor(this.#clock() / CACHE_MS)
    if (period !== this.#period) {
      this.clear()
      this.#period = period
    }
    return this.#keys.get(hash)
  }

  /** Makes this process look up every key again. Called after it has changed a key. */
  clear(): void {
    this.#keys.clear()
    this.#lookups.clear()
    this.#generation++
  }

  /** Whether a secret with this hash existed when the store was last queried. */
  hasHash(hash: string): boolean {
    return this.#hashes.has(hash)
  }

  /** Resolves when the hash of every secret that existed at the time of the call is known. Waiting callers share a query. */
  refresh(): Promise<void> {
    this.#nextRefresh ??= this.#refreshLater()
    return this.#nextRefresh
  }

  /** Looks the key up in the store, even if it is cached, and caches it. Concurrent callers share a lookup. */
  findInStore(hash: string): Promise<ApiKey | undefined> {
    const pending = this.#lookups.get(hash)
    if (pending !== undefined) return pending
    const lookup = this.#lookUp(hash).finally(() => {
      if (this.#lookups.get(hash) === lookup) this.#lookups.delete(hash)
    })
    this.#lookups.set(hash, lookup)
    return lookup
  }

  async #lookUp(hash: string): Promise<ApiKey | undefined> {
    const generation = this.#generation
    const key = await this.#store.findKey(hash)
    // A key that was looked up before the cache was cleared may be outdated.
    const isCurrent = generation === this.#generation
    if (key !== undefined && isCurrent && this.#keys.size < MAX_CACHED_KEYS) this.#keys.set(hash, key)
    if (key === undefined) this.#hashes.delete(hash)
    else this.#hashes.add(hash)
    return key
  }

  async #refreshLater(): Promise<void> {
    // Even a sleep of 0 ms ends the turn, so `refresh` has set `#nextRefresh` before it is cleared below.
    await Bun.sleep(Math.max(0, this.#refreshedAt + REFRESH_INTERVAL_MS - performance.now()))
    // Callers that arrive after the query has started need another query, since this one may miss their secret.
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
