import type { WindowCount } from '../limits/limit-store.ts'
import type { WebhookAction } from '../webhooks/webhooks-draft.ts'
import type { ApiKey, KeyChange, Plan, StoredSecret } from './api-key.ts'
import type { KeyCommand } from './key-command.ts'
import type { StoredPairingCode } from './pairing.ts'

/** The actor and the time of an action on a key. The commit of the action writes them to the audit log. */
export interface AuditStamp {
  readonly at: number
  readonly actor: string
}

export type KeyAction =
  | 'create'
  | 'change'
  | 'rotate'
  | 'revoke'
  | 'unban'
  | 'create pairing code'
  | 'pair'
  | WebhookAction

interface AuditEntry extends AuditStamp {
  readonly action: KeyAction
  readonly keyId: string
  readonly detail: string
}

/** A key as operators see it. */
export interface KeyRecord {
  readonly key: ApiKey
  /** Newest first. */
  readonly secrets: readonly Omit<StoredSecret, 'hash'>[]
  readonly lastUsedAt?: number
  /** The latest day window of the key, which may have ended. Absent if the key was never used. */
  readonly day?: WindowCount
}

interface SecretHashes {
  readonly hashes: readonly string[]
  /** Pass this to the next call of `listSecretHashes` to get later hashes. */
  readonly position: bigint
}

export interface KeyStore {
  addKey(key: ApiKey, secret: StoredSecret, stamp: AuditStamp): Promise<void>
  /** The key of the secret with this hash. `expiresAt` is the expiry of the key or of the secret, whichever is earlier. */
  findKey(hash: string): Promise<ApiKey | undefined>
  /** The hashes of all secrets; with `after`, only those of keys changed since. May repeat a hash. Cheap if nothing changed. */
  listSecretHashes(after: bigint | undefined): Promise<SecretHashes>
  /** Counts the keys of each plan that are active at `now`, as `keyState` defines it. */
  countActiveKeys(now: number): Promise<Record<Plan, number>>
  listKeys(): Promise<KeyRecord[]>
  /** Up to `limit` keys, oldest first. With `after`, only keys that come after the key with this id. */
  listKeyPage(limit: number, after: string | undefined): Promise<KeyRecord[]>
  findKeyRecord(keyId: string): Promise<KeyRecord | undefined>
  /** Runs the command if `requireAllowed` allows it, which is checked in the same commit. Returns the key after the command. */
  runKeyCommand(actorId: string, command: KeyCommand, at: number): Promise<KeyRecord>
  /** Changes a key for the operator. `requireRemainingManager` is checked in the same commit. */
  changeKey(keyId: string, change: KeyChange, stamp: AuditStamp): Promise<void>
  /**
   * Adds a secret. The earlier secrets expire at `earlierSecretsEndAt` at the latest, or are deleted if `earlierSecretsEndAt`
   * is not in the future.
   */
  rotateKey(
    keyId: string,
    secret: StoredSecret,
    earlierSecretsEndAt: number,
    stamp: AuditStamp,
  ): Promise<void>
  /** Revokes a key for the operator. `requireRemainingManager` is checked in the same commit. */
  revokeKey(keyId: string, stamp: AuditStamp): Promise<void>
  /** Adds a pairing code, which replaces the earlier pairing code of the key. */
  addPairingCode(keyId: string, code: StoredPairingCode, stamp: AuditStamp): Promise<void>
  /** The key whose pairing code has this hash and has not expired at `at`. */
  findKeyByPairingCode(hash: string, at: number): Promise<ApiKey | undefined>
  /** Exchanges a pairing code for a secret; undefined if the code is unknown, expired or used, or its key inactive. */
  pairKey(codeHash: string, secret: StoredSecret, at: number): Promise<KeyRecord | undefined>
  /** Ends the ban of a key immediately. Returns false if the key was not banned. */
  liftBan(keyId: string, stamp: AuditStamp): Promise<boolean>
  /** The audit log, oldest entry first. */
  listAudit(): Promise<AuditEntry[]>
}
