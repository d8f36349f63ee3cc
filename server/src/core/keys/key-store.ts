import type { ApiKey, StoredSecret } from './api-key.ts'
import type { KeyChange } from './key-change.ts'
import type { Plan } from './plans.ts'

/** Who does something with a key, and when: it goes into the audit in the same commit as the deed. */
export interface KeyAct {
  readonly at: number
  readonly actor: string
}

export type KeyActKind = 'create' | 'change' | 'rotate' | 'revoke' | 'unban'

export interface KeyActEntry extends KeyAct {
  readonly action: KeyActKind
  readonly keyId: string
  readonly detail: string
}

/** A key with everything that may be told about it. */
export interface KeyRecord {
  readonly key: ApiKey
  /** Newest first. */
  readonly secrets: readonly Omit<StoredSecret, 'hash'>[]
  readonly lastUsedAt?: number
}

/** Hashes of secrets, and where to go on to get those that come later. */
export interface SecretHashes {
  readonly hashes: readonly string[]
  readonly position: bigint
}

/** The keys, and what was done with them. */
export interface KeyStore {
  addKey(key: ApiKey, secret: StoredSecret, act: KeyAct): Promise<void>
  /** The key that a secret with this hash opens. Its expiry is the secret's, where that comes first. */
  findKey(hash: string): Promise<ApiKey | undefined>
  /**
   * The hashes of all secrets, or of those whose keys were created, changed or rotated since `after`. Some may be listed
   * again. Costs little if nothing happened since.
   */
  listSecretHashes(after: bigint | undefined): Promise<SecretHashes>
  /** How many keys of each plan are neither revoked nor expired at `now`. */
  countActiveKeys(now: number): Promise<Record<Plan, number>>
  /** Every key, oldest first. */
  listKeys(): Promise<KeyRecord[]>
  /** Changes what is given and leaves the rest to others; `key` is as it was, for the audit. */
  changeKey(key: ApiKey, change: KeyChange, act: KeyAct): Promise<void>
  /** Gives the key another secret; those it had end at `endAt`, or are forgotten where that is not in the future. */
  rotateKey(keyId: string, secret: StoredSecret, endAt: number, act: KeyAct): Promise<void>
  revokeKey(keyId: string, act: KeyAct): Promise<void>
  /** Ends the ban of a key at once; false where there was none. */
  liftBan(keyId: string, act: KeyAct): Promise<boolean>
  /** What was done with the keys, oldest first. */
  listKeyActs(): Promise<KeyActEntry[]>
}
