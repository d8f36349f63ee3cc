import type { SQL } from 'bun'
import type { ApiKey, StoredSecret } from '../../core/keys/api-key.ts'
import type { KeyAct, KeyActKind, KeyRecord } from '../../core/keys/key-admin.ts'
import type { Plan } from '../../core/keys/plans.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'
import type { StoreClock } from './store-clock.ts'

interface KeyRow {
  id: string
  name: string
  plan: Plan
  per_minute: bigint
  per_day: bigint
  read_only: boolean
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

export function keyVerbs(connection: Connection, clock: StoreClock): KeyVerbs {
  const audit = (sql: SQL, act: KeyAct, action: KeyActKind, keyId: string, detail: string) => sql`
    INSERT INTO audit (at, actor, action, key_id, detail)
    VALUES (${act.at}::bigint, ${act.actor}, ${action}, ${keyId}, ${detail})`
  const addSecret = (sql: SQL, keyId: string, { hash, hint, createdAt, expiresAt }: StoredSecret) => sql`
    INSERT INTO key_secrets (hash, key_id, hint, created_at, expires_at)
    VALUES (${hash}, ${keyId}, ${hint}, ${createdAt}::bigint, ${expiresAt ?? null}::bigint)`

  return {
    addKey: (key, secret, act) =>
      connection.transaction(async (sql) => {
        const { perMinute, perDay } = key.limits
        await sql`
          INSERT INTO keys (id, name, plan, per_minute, per_day, read_only, created_at, expires_at, revoked_at)
          VALUES (${key.id}, ${key.name}, ${key.plan}, ${perMinute}::bigint, ${perDay}::bigint, ${key.readOnly},
            ${key.createdAt}::bigint, ${key.expiresAt ?? null}::bigint, ${key.revokedAt ?? null}::bigint)`
        await addSecret(sql, key.id, secret)
        await audit(sql, act, 'create', key.id, `${key.plan}, ${perMinute} a minute, ${perDay} a day`)
      }),

    findKey: async (hash) => {
      const [row] = await connection.run(
        (sql) => sql<KeyRow[]>`
          SELECT id, name, plan, per_minute, per_day, read_only, keys.created_at, revoked_at,
            least(keys.expires_at, key_secrets.expires_at) AS expires_at
          FROM key_secrets JOIN keys ON keys.id = key_secrets.key_id WHERE hash = ${hash}`,
      )
      return row === undefined ? undefined : toKey(row)
    },

    countActiveKeys: async (now) => {
      const rows = await connection.run(
        (sql) => sql<{ plan: Plan; keys: bigint }[]>`
          SELECT plan, count(*) AS keys FROM keys
          WHERE revoked_at IS NULL AND coalesce(expires_at > ${now}::bigint, true)
          GROUP BY plan`,
      )
      const counts: Record<Plan, number> = { free: 0, pro: 0, business: 0, enterprise: 0 }
      for (const { plan, keys } of rows) counts[plan] = Number(keys)
      return counts
    },

    listKeys: async () => {
      const secrets = await connection.run(
        (sql) => sql<SecretRow[]>`
          SELECT key_id, hint, created_at, expires_at FROM key_secrets ORDER BY created_at DESC`,
      )
      const rows = await connection.run(
        (sql) => sql<(KeyRow & { last_used_at: bigint | null })[]>`
          SELECT id, name, plan, per_minute, per_day, read_only, created_at, expires_at, revoked_at, last_used_at
          FROM keys LEFT JOIN limit_windows ON limit_windows.key_id = keys.id ORDER BY created_at, number`,
      )
      const secretsOf = Map.groupBy(secrets, (row) => row.key_id)
      return rows.map(
        (row): KeyRecord => ({
          key: toKey(row),
          secrets: (secretsOf.get(row.id) ?? []).map(toSecret),
          ...(row.last_used_at === null ? {} : { lastUsedAt: Number(row.last_used_at) }),
        }),
      )
    },

    rotateKey: (keyId, secret, endAt, act) =>
      connection.transaction(async (sql) => {
        // Gone, and not only over: a clock that is set back would bring them back.
        await (endAt <= act.at
          ? sql`DELETE FROM key_secrets WHERE key_id = ${keyId}`
          : sql`UPDATE key_secrets SET expires_at = least(${endAt}::bigint, expires_at) WHERE key_id = ${keyId}`)
        await addSecret(sql, keyId, secret)
        await audit(sql, act, 'rotate', keyId, `earlier secrets end at ${new Date(endAt).toISOString()}`)
      }),

    revokeKey: (keyId, act) =>
      connection.transaction(async (sql) => {
        await sql`UPDATE keys SET revoked_at = ${act.at}::bigint WHERE id = ${keyId}`
        await audit(sql, act, 'revoke', keyId, '')
      }),

    liftBan: (keyId, act) =>
      connection.transaction(async (sql) => {
        const now = await clock(sql)
        const { count } = await sql`
          UPDATE bans SET lifted_at = ${act.at}::bigint
          WHERE key_id = ${keyId} AND ends_at > ${now}::bigint AND lifted_at IS NULL`
        if (count > 0) await audit(sql, act, 'unban', keyId, '')
        return count > 0
      }),

    listKeyActs: async () => {
      const rows = await connection.run(
        (sql) => sql<ActRow[]>`SELECT at, actor, action, key_id, detail FROM audit ORDER BY id`,
      )
      return rows.map(({ at, actor, action, key_id, detail }) => ({
        at: Number(at),
        actor,
        action,
        keyId: key_id,
        detail,
      }))
    },
  }
}

function toKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    limits: { perMinute: Number(row.per_minute), perDay: Number(row.per_day) },
    readOnly: row.read_only,
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
