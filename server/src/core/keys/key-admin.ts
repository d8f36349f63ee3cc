import type { ApiKey, StoredSecret } from './api-key.ts'

/** Who does something with a key, and when: it goes into the audit in the same commit as the deed. */
export interface KeyAct {
  readonly at: number
  readonly actor: string
}

export type KeyActKind = 'create' | 'rotate' | 'revoke' | 'unban'

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
