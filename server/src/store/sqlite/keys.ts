import type { ApiKey, StoredSecret } from '../../core/keys/api-key.ts'
import type { KeyAct, KeyActKind, KeyRecord } from '../../core/keys/key-admin.ts'
import type { Plan } from '../../core/keys/plans.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'

interface KeyRow {
  id: string
  name: string
  plan: Plan
  per_minute: bigint
  per_day: bigint
  read_only: bigint
  created_at: bigint
  expires_at: bigint | null
  revoked_at: bigint | null
}

interface SecretRow {
  key_id: string
  hint: string
  created_at: bigint
  expires_at: bigint | null
}

interface ActRow {
  at: bigint
  actor: string
  action: KeyActKind
  key_id: string
  detail: string
}

type KeyVerbs = Pick<
  Store,
  | 'addKey'
  | 'findKey'
  | 'countActiveKeys'
  | 'listKeys'
  | 'rotateKey'
  | 'revokeKey'
  | 'liftBan'
  | 'listKeyActs'
>

export function keyVerbs(connection: Connection): KeyVerbs {
  const { database } = connection
  const columns = 'id, name, plan, per_minute, per_day, read_only, keys.created_at, revoked_at'
  const byHash = database.query<KeyRow, [string]>(`
    SELECT ${columns},
      min(coalesce(keys.expires_at, key_secrets.expires_at),
          coalesce(key_secrets.expires_at, keys.expires_at)) AS expires_at
    FROM key_secrets JOIN keys ON keys.id = key_secrets.key_id WHERE hash = ?
  `)
  const all = database.query<KeyRow & { last_used_at: bigint | null }, []>(`
    SELECT ${columns}, keys.expires_at, last_used_at
    FROM keys LEFT JOIN limit_windows ON limit_windows.key_id = keys.id ORDER BY keys.created_at, keys.rowid
  `)
  const secrets = database.query<SecretRow, []>(
    'SELECT key_id, hint, created_at, expires_at FROM key_secrets ORDER BY created_at DESC',
  )
  const active = database.query<{ plan: Plan; keys: bigint }, [number]>(`
    SELECT plan, count(*) AS keys FROM keys
    WHERE revoked_at IS NULL AND coalesce(expires_at > ?1, true) GROUP BY plan
  `)
  const insertKey = database.query<
    unknown,
    [string, string, Plan, number, number, number, number, number | null, number | null]
  >('INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const insertSecret = database.query<unknown, [string, string, string, number, number | null]>(
    'INSERT INTO key_secrets VALUES (?, ?, ?, ?, ?)',
  )
  const endSecrets = database.query<unknown, [number, string]>(
    'UPDATE key_secrets SET expires_at = min(?1, coalesce(expires_at, ?1)) WHERE key_id = ?2',
  )
  const removeSecrets = database.query<unknown, [string]>('DELETE FROM key_secrets WHERE key_id = ?')
  const revoke = database.query<unknown, [number, string]>('UPDATE keys SET revoked_at = ? WHERE id = ?')
  const lift = database.query<unknown, [number, string]>(
    'UPDATE bans SET lifted_at = ?1 WHERE key_id = ?2 AND ends_at > ?1 AND lifted_at IS NULL',
  )
  const record = database.query<unknown, [number, string, KeyActKind, string, string]>(
    'INSERT INTO audit (at, actor, action, key_id, detail) VALUES (?, ?, ?, ?, ?)',
  )
  const acts = database.query<ActRow, []>('SELECT at, actor, action, key_id, detail FROM audit ORDER BY id')

  const audit = (act: KeyAct, action: KeyActKind, keyId: string, detail: string) =>
    record.run(act.at, act.actor, action, keyId, detail)
  const addSecret = (keyId: string, { hash, hint, createdAt, expiresAt }: StoredSecret) =>
    insertSecret.run(hash, keyId, hint, createdAt, expiresAt ?? null)

  return {
    addKey: (key, secret, act) =>
      connection.write(() => {
        const { perMinute, perDay } = key.limits
        insertKey.run(
          ...([key.id, key.name, key.plan, perMinute, perDay, key.readOnly ? 1 : 0, key.createdAt] as const),
          key.expiresAt ?? null,
          key.revokedAt ?? null,
        )
        addSecret(key.id, secret)
        audit(act, 'create', key.id, `${key.plan}, ${perMinute} a minute, ${perDay} a day`)
      }),

    findKey: (hash) =>
      connection.read(() => {
        const row = byHash.get(hash)
        return row === null ? undefined : toKey(row)
      }),

    countActiveKeys: (now) =>
      connection.read(() => {
        const counts: Record<Plan, number> = { free: 0, pro: 0, business: 0, enterprise: 0 }
        for (const { plan, keys } of active.all(now)) counts[plan] = Number(keys)
        return counts
      }),

    listKeys: () =>
      connection.read(() => {
        const secretsOf = Map.groupBy(secrets.all(), (row) => row.key_id)
        return all.all().map(
          (row): KeyRecord => ({
            key: toKey(row),
            secrets: (secretsOf.get(row.id) ?? []).map(toSecret),
            ...(row.last_used_at === null ? {} : { lastUsedAt: Number(row.last_used_at) }),
          }),
        )
      }),

    rotateKey: (keyId, secret, endAt, act) =>
      connection.write(() => {
        // Gone, and not only over: a clock that is set back would bring them back.
        if (endAt <= act.at) removeSecrets.run(keyId)
        else endSecrets.run(endAt, keyId)
        addSecret(keyId, secret)
        audit(act, 'rotate', keyId, `earlier secrets end at ${new Date(endAt).toISOString()}`)
      }),

    revokeKey: (keyId, act) =>
      connection.write(() => {
        revoke.run(act.at, keyId)
        audit(act, 'revoke', keyId, '')
      }),

    liftBan: (keyId, act) =>
      connection.write(() => {
        const { changes } = lift.run(act.at, keyId)
        if (changes > 0) audit(act, 'unban', keyId, '')
        return changes > 0
      }),

    listKeyActs: () =>
      connection.read(() =>
        acts.all().map(({ at, actor, action, key_id, detail }) => ({
          at: Number(at),
          actor,
          action,
          keyId: key_id,
          detail,
        })),
      ),
  }
}

function toKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    limits: { perMinute: Number(row.per_minute), perDay: Number(row.per_day) },
    readOnly: row.read_only === 1n,
    createdAt: Number(row.created_at),
    ...(row.expires_at === null ? {} : { expiresAt: Number(row.expires_at) }),
    ...(row.revoked_at === null ? {} : { revokedAt: Number(row.revoked_at) }),
  }
}

function toSecret(row: SecretRow): Omit<StoredSecret, 'hash'> {
  return {
    hint: row.hint,
    createdAt: Number(row.created_at),
    ...(row.expires_at === null ? {} : { expiresAt: Number(row.expires_at) }),
  }
}
