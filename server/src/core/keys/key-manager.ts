import type { Clock } from '../values/clock.ts'
import type { TagCondition } from '../values/record-tag.ts'
import {
  type ApiKey,
  createKeyId,
  createSecret,
  type KeyChange,
  type KeyEnvironment,
  toStoredSecret,
} from './api-key.ts'
import type { KeyCommand } from './key-command.ts'
import type { KeyRing } from './key-ring.ts'
import type { KeyRecord, KeyStore } from './key-store.ts'
import { createPairingCode, toStoredPairingCode } from './pairing.ts'

/** A key with a new secret, which nobody can read again. */
export interface IssuedKey {
  readonly record: KeyRecord
  readonly secret: string
}

interface KeyManagerParts {
  readonly store: Pick<KeyStore, 'runKeyCommand' | 'pairKey'>
  readonly keyRing: Pick<KeyRing, 'clear'>
  readonly clock: Clock
  readonly environment: KeyEnvironment
}

/** Changes keys for callers of the API. Each change takes effect in this process at once. */
export class KeyManager {
  readonly #parts: KeyManagerParts

  constructor(parts: KeyManagerParts) {
    this.#parts = parts
  }

  async create(actor: ApiKey, settings: Omit<ApiKey, 'id' | 'createdAt'>): Promise<IssuedKey> {
    const { at, secret, storedSecret } = this.#newSecret()
    const key = { id: createKeyId(), createdAt: at, ...settings }
    return { record: await this.#run(actor, { type: 'create', key, secret: storedSecret }, at), secret }
  }

  change(actor: ApiKey, keyId: string, change: KeyChange, { onlyIfTags }: TagCondition): Promise<KeyRecord> {
    return this.#run(actor, { type: 'change', keyId, change, onlyIfTags }, this.#parts.clock())
  }

  async rotate(actor: ApiKey, keyId: string, graceMs: number): Promise<IssuedKey> {
    const { at, secret, storedSecret } = this.#newSecret()
    const command: KeyCommand = {
      type: 'rotate',
      keyId,
      secret: storedSecret,
      earlierSecretsEndAt: at + graceMs,
    }
    return { record: await this.#run(actor, command, at), secret }
  }

  async revoke(actor: ApiKey, keyId: string, { onlyIfTags }: TagCondition): Promise<void> {
    await this.#run(actor, { type: 'revoke', keyId, onlyIfTags }, this.#parts.clock())
  }

  async createPairingCode(actor: ApiKey, keyId: string) {
    const at = this.#parts.clock()
    const code = createPairingCode()
    const storedCode = toStoredPairingCode(code, at)
    await this.#run(actor, { type: 'create_pairing_code', keyId, code: storedCode }, at)
    return { code, expiresAt: storedCode.expiresAt }
  }

  /** Exchanges a pairing code for a new secret of its key. Returns undefined if the code is not valid. */
  async pair(codeHash: string): Promise<IssuedKey | undefined> {
    const { at, secret, storedSecret } = this.#newSecret()
    const record = await this.#parts.store.pairKey(codeHash, storedSecret, at)
    if (record === undefined) return undefined
    this.#parts.keyRing.clear()
    return { record, secret }
  }

  #newSecret() {
    const at = this.#parts.clock()
    const secret = createSecret(this.#parts.environment)
    return { at, secret, storedSecret: toStoredSecret(secret, at) }
  }

  async #run(actor: ApiKey, command: KeyCommand, at: number): Promise<KeyRecord> {
    const record = await this.#parts.store.runKeyCommand({ type: 'key', id: actor.id }, command, at)
    this.#parts.keyRing.clear()
    return record
  }
}
