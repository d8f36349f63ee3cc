import type { ApiKey, KeyChange, StoredSecret } from '../../src/core/keys/api-key.ts'
import type { KeyCommand } from '../../src/core/keys/key-command.ts'
import type { AuditStamp, KeyAuditEntry, KeyRecord, KeyStore } from '../../src/core/keys/key-store.ts'
import type { StoredPairingCode } from '../../src/core/keys/pairing.ts'

/** Changes keys as the operator of the store, at any time. */
export function operatorOf(store: Pick<KeyStore, 'runKeyCommand'>) {
  const run = (command: KeyCommand, { at, actor }: AuditStamp): Promise<KeyRecord> =>
    store.runKeyCommand({ type: 'operator', name: actor }, command, at)
  return {
    addKey: (key: ApiKey, secret: StoredSecret, stamp: AuditStamp) =>
      run({ type: 'create', key, secret }, stamp),
    changeKey: (keyId: string, change: KeyChange, stamp: AuditStamp) =>
      run({ type: 'change', keyId, change }, stamp),
    rotateKey: (keyId: string, secret: StoredSecret, earlierSecretsEndAt: number, stamp: AuditStamp) =>
      run({ type: 'rotate', keyId, secret, earlierSecretsEndAt }, stamp),
    revokeKey: (keyId: string, stamp: AuditStamp) => run({ type: 'revoke', keyId }, stamp),
    addPairingCode: (keyId: string, code: StoredPairingCode, stamp: AuditStamp) =>
      run({ type: 'create_pairing_code', keyId, code }, stamp),
  }
}

/** The audit log of a key without ids, oldest entry first. */
export async function auditOf(
  store: Pick<KeyStore, 'listKeyAudit'>,
  keyId: string,
): Promise<Omit<KeyAuditEntry, 'id'>[]> {
  const newestFirst = await store.listKeyAudit(keyId, 10_000, undefined)
  return newestFirst.map(({ id: _, ...entry }) => entry).reverse()
}
