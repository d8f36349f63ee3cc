import Type from 'typebox'
import type { WindowCount } from '../limits/limit-store.ts'
import { DateTime, Int64, type RecordOf } from '../values/field.ts'
import type { WebhookAction } from '../webhooks/webhooks-draft.ts'
import type { ApiKey, Plan, StoredSecret } from './api-key.ts'
import type { KeyActor, KeyCommand } from './key-command.ts'

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
  | 'create pairing code'
  | 'pair'
  | WebhookAction

/** An action on a key, or on a webhook that belongs to the key. */
export const KEY_AUDIT_ENTRY = {
  id: Int64('Identifies the entry.'),
  at: DateTime('When the action was made, in UTC.'),
  actor: Type.String({
    description: 'Name and id of the key that made the action, or the user of the machine of the service.',
  }),
  action: Type.String({
    description:
      'Such as `create`, `change`, `rotate`, `revoke`, `pair` or `change webhook`. Later versions may add actions.',
  }),
  detail: Type.String({
    description:
      'What changed, with the values before and after. Empty for a webhook if the caller lacks the permission `webhooks`.',
  }),
}
export type KeyAuditEntry = RecordOf<typeof KEY_AUDIT_ENTRY>

/** A key as operators see it. */
export interface KeyRecord {
  readonly key: ApiKey
  /** Newest first. */
  readonly secrets: readonly Omit<StoredSecret, 'hash'>[]
  readonly lastUsedAt?: number
  /** The latest day window of the key, which may have ended. Absent if the key was never used. */
  readonly day?: WindowCount
  /** When the latest ban of the key ends or ended. */
  readonly banEndsAt?: number
}

interface SecretHashes {
  readonly hashes: readonly string[]
  /** Pass this to the next call of `listSecretHashes` to get later hashes. */
  readonly position: bigint
}

export interface KeyStore {
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
  runKeyCommand(actor: KeyActor, command: KeyCommand, at: number): Promise<KeyRecord>
  /** The key whose pairing code has this hash and has not expired at `at`. */
  findKeyByPairingCode(hash: string, at: number): Promise<ApiKey | undefined>
  /** Exchanges a pairing code for a secret; undefined if the code is unknown, expired or used, or its key inactive. */
  pairKey(codeHash: string, secret: StoredSecret, at: number): Promise<KeyRecord | undefined>
  /** Up to `limit` entries of the audit log of a key, newest first. With `before`, only entries before the one with this id. */
  listKeyAudit(keyId: string, limit: number, before: bigint | undefined): Promise<KeyAuditEntry[]>
}
