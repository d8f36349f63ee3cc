import { hash } from 'node:crypto'
import type { Clock } from '../values/clock.ts'
import type { Permission } from './permissions.ts'
import type { Limits, Plan } from './plans.ts'

export type KeyEnvironment = 'production' | 'staging'

/** What is kept of a key. The secret itself is shown once and never stored. */
export interface ApiKey {
  /** Public: it stands in logs and in the history. */
  readonly id: string
  readonly name: string
  readonly plan: Plan
  readonly limits: Limits
  /** What it may change; without any it may only look. */
  readonly permissions: readonly Permission[]
  readonly createdAt: number
  readonly expiresAt?: number
  readonly revokedAt?: number
}

/** A secret as it is stored: found by its hash, recognised by people by its hint. */
export interface StoredSecret {
  readonly hash: string
  readonly hint: string
  readonly createdAt: number
  readonly expiresAt?: number
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX: Readonly<Record<KeyEnvironment, string>> = { production: 'pst_live_', staging: 'pst_test_' }
const SHAPE = /^(pst_(?:live|test)_[0-9A-Za-z]{30})([0-9A-Za-z]{6})$/

/** How many keys are cached for TRUSTED_FOR_MS, so that a request does not wait for the store. */
const MAX_KEYS = 10_000
/** The store is queried for new secrets at most this often, however many unknown secrets are sent. */
const REFRESH_EVERY_MS = 50
/** A key that is revoked anywhere stops working within this time, and one that is changed is the changed one. */
const TRUSTED_FOR_MS = 250

/** 30 random base62 characters (178 bits), then a checksum that tells a mistyped key without a look-up. */
export function createSecret(environment: KeyEnvironment): string {
  const body = PREFIX[environment] + randomBase62(30)
  return body + checksum(body)
}

export function isWellFormedSecret(secret: string): boolean {
  const [, body, sum] = SHAPE.exec(secret) ?? []
  return body !== undefined && checksum(body) === sum
}

/**
 * Keys are looked up by this hash. They are random enough for one round of SHA-256, and since the caller
 * cannot steer the hash, the time a look-up takes tells nothing about a stored key.
 */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** Enough to recognise a secret by, and not to use it. */
export function maskSecret(secret: string): string {
  return `${secret.slice(0, 9)}…${secret.slice(-4)}`
}

/** As a caller may have put it somewhere: into a path, there perhaps percent-encoded, or into a name. */
const SECRET_IN_TEXT = /pst(?:_|%5f)(live|test)(?:_|%5f)[0-9A-Za-z]+/gi

/** The same text without the secrets in it, for logs and messages. */
export function hideSecrets(text: string): string {
  return text.replace(SECRET_IN_TEXT, 'pst_$1_[hidden]')
}

export function storedSecret(secret: string, createdAt: number): StoredSecret {
  return { hash: hashSecret(secret), hint: maskSecret(secret), createdAt }
}

export function createKeyId(): string {
  return `key_${randomBase62(16)}`
}

export function keyState(key: ApiKey, now: number): 'active' | 'expired' | 'revoked' {
  // Whatever the clock says: set back, it must not bring a key back to life.
  if (key.revokedAt !== undefined) return 'revoked'
  if (key.expiresAt !== undefined && key.expiresAt <= now) return 'expired'
  return 'active'
}

/** The part of the key store that a ring uses. */
interface KeySource {
  findKey(hash: string): Promise<ApiKey | undefined>
  listSecretHashes(after: bigint | undefined): Promise<{ hashes: readonly string[]; position: bigint }>
}

/**
 * Caches the keys in use by the hash of their secret, so that a request need not query the store, and holds the hashes of all
 * secrets, so that a guess is recognised without a lookup. Other processes change keys too: an unknown hash may have been added a
 * moment ago. `refresh` reads all such hashes in one query.
 */
export class KeyRing {
  readonly #store: KeySource
  readonly #clock: Clock
  readonly #keys = new Map<string, ApiKey>()
  /** The hash of every secret in the store. 100,000 of them take about 28 MB. */
  readonly #hashes = new Set<string>()
  /** Lookups under way, by hash: callers who arrive together share one. All of them began in the current span. */
  readonly #lookups = new Map<string, Promise<ApiKey | undefined>>()
  /** The span of TRUSTED_FOR_MS in which `#keys` and `#lookups` were filled. */
  #span = 0
  /** The last change of keys that `#hashes` includes. */
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
  known(hash: string): ApiKey | undefined {
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
    const underWay = this.#lookups.get(hash)
    if (underWay !== undefined) return underWay
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
    // Also without a pause this waits for another turn, so that `refresh` has stored the promise that is cleared here.
    await Bun.sleep(Math.max(0, this.#refreshedAt + REFRESH_EVERY_MS - performance.now()))
    // A later caller may ask for a secret that this query does not find yet.
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

function checksum(body: string): string {
  let rest = Bun.hash.crc32(body)
  let digits = ''
  while (digits.length < 6) {
    digits = ALPHABET.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is the largest multiple of 62 in a byte: above it, some characters would be likelier.
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62)
    }
  }
  return text
}
