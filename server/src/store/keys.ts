import type { ApiKey, StoredSecret } from '../core/keys/api-key.ts'
import { describeKeyChange, type KeyChange } from '../core/keys/key-change.ts'
import type { KeyAct, KeyActKind, KeyStore } from '../core/keys/key-store.ts'
import { permissionsIn, permissionText } from '../core/keys/permissions.ts'
import type { Plan } from '../core/keys/plans.ts'
import { type SqlDatabase, type SqlValue, type Statement, statement } from './sql.ts'

interface KeyRow {
  id: string
  name: string
  plan: Plan
  per_minute: bigint
  per_day: bigint
  permissions: string
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

const COLUMNS = 'id, name, plan, per_minute, per_day, permissions, keys.created_at, revoked_at'
/** An audit row gets its id before its commit. A commit may end after up to this many commits with later ids. */
const UNCOMMITTED_ACTS = 100n
const IS_BANNED = 'key_id = $1 AND ends_at > $2 AND lifted_at IS NULL'

/** `storeTime` is what bans go by, where that is not the clock of whoever acts. */
export function keyVerbs(database: SqlDatabase, storeTime?: () => Promise<number>): KeyStore {
  return {
    addKey: async (key, secret, act) => {
      const { perMinute, perDay } = key.limits
      await database.commit([
        statement(
          `INSERT INTO keys (id, name, plan, per_minute, per_day, permissions, created_at, expires_at, revoked_at)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
          ...[key.id, key.name, key.plan, perMinute, perDay, permissionText(key.permissions)],
          ...[key.createdAt, key.expiresAt ?? null, key.revokedAt ?? null],
        ),
        secretOf(key.id, secret),
        auditOf(
          act,
          'create',
          key.id,
          `${key.plan}, ${perMinute} a minute, ${perDay} a day, may ${permissionText(key.permissions)}`,
        ),
      ])
    },

    findKey: async (hash) => {
      const [row] = await database.rows<KeyRow>(
        `SELECT ${COLUMNS}, CASE
            WHEN key_secrets.expires_at IS NULL OR keys.expires_at <= key_secrets.expires_at THEN keys.expires_at
            ELSE key_secrets.expires_at
          END AS expires_at
        FROM key_secrets JOIN keys ON keys.id = key_secrets.key_id WHERE hash = $1`,
        hash,
      )
      return row === undefined ? undefined : toKey(row)
    },

    listSecretHashes: async (after) => {
      const [last] = await database.rows<{ id: bigint | null }>('SELECT max(id) AS id FROM audit')
      const position = last?.id ?? 0n
      // Every change of a key writes an audit row in the same commit.
      const rows =
        after === undefined
          ? await database.rows<{ hash: string }>('SELECT hash FROM key_secrets')
          : await database.rows<{ hash: string }>(
              `SELECT hash FROM key_secrets
              WHERE key_id IN (SELECT key_id FROM audit WHERE id > CAST($1 AS BIGINT))`,
              after - UNCOMMITTED_ACTS,
            )
      return { hashes: rows.map(({ hash }) => hash), position }
    },

    countActiveKeys: async (now) => {
      const rows = await database.rows<{ plan: Plan; keys: bigint }>(
        `SELECT plan, count(*) AS keys FROM keys
        WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1) GROUP BY plan`,
        now,
      )
      const counts: Record<Plan, number> = { free: 0, pro: 0, business: 0, enterprise: 0 }
      for (const { plan, keys } of rows) counts[plan] = Number(keys)
      return counts
    },

    listKeys: async () => {
      const secrets = await database.rows<SecretRow>(
        'SELECT key_id, hint, created_at, expires_at FROM key_secrets ORDER BY created_at DESC',
      )
      const rows = await database.rows<KeyRow & { last_used_at: bigint | null }>(
        `SELECT ${COLUMNS}, keys.expires_at, last_used_at
        FROM keys LEFT JOIN limit_windows ON limit_windows.key_id = keys.id ORDER BY keys.created_at, keys.${database.dialect.keyOrder}`,
      )
      const secretsOf = Map.groupBy(secrets, (row) => row.key_id)
      return rows.map((row) => ({
        key: toKey(row),
        secrets: (secretsOf.get(row.id) ?? []).map(({ hint, created_at, expires_at }) => ({
          hint,
          createdAt: Number(created_at),
          ...(expires_at === null ? {} : { expiresAt: Number(expires_at) }),
        })),
        ...(row.last_used_at === null ? {} : { lastUsedAt: Number(row.last_used_at) }),
      }))
    },

    changeKey: async (key, change, act) => {
      const [columns, values] = columnsOf(change)
      await database.commit([
        statement(
          `UPDATE keys SET ${columns.map((column, index) => `${column} = $${index + 2}`).join(', ')} WHERE id = $1`,
          ...[key.id, ...values],
        ),
        auditOf(act, 'change', key.id, describeKeyChange(key, change).join('; ')),
      ])
    },

    rotateKey: async (keyId, secret, endAt, act) => {
      await database.commit([
        // Gone, and not only over: a clock that is set back would bring them back.
        endAt <= act.at
          ? statement('DELETE FROM key_secrets WHERE key_id = $1', keyId)
          : statement(
              `UPDATE key_secrets SET expires_at = $1
              WHERE key_id = $2 AND (expires_at IS NULL OR expires_at > $1)`,
              endAt,
              keyId,
            ),
        secretOf(keyId, secret),
        auditOf(act, 'rotate', keyId, `earlier secrets end at ${new Date(endAt).toISOString()}`),
      ])
    },

    revokeKey: async (keyId, act) => {
      await database.commit([
        statement('UPDATE keys SET revoked_at = $1 WHERE id = $2', act.at, keyId),
        auditOf(act, 'revoke', keyId, ''),
      ])
    },

    liftBan: async (keyId, act) => {
      const now = (await storeTime?.()) ?? act.at
      const [, lifted] = await database.commit([
        statement(
          `INSERT INTO audit (at, actor, action, key_id, detail)
          SELECT $3, $4, 'unban', $1, '' WHERE EXISTS (SELECT 1 FROM bans WHERE ${IS_BANNED})`,
          ...[keyId, now, act.at, act.actor],
        ),
        statement(`UPDATE bans SET lifted_at = $3 WHERE ${IS_BANNED}`, keyId, now, act.at),
      ])
      return lifted !== 0
    },

    listKeyActs: async () => {
      const rows = await database.rows<ActRow>(
        'SELECT at, actor, action, key_id, detail FROM audit ORDER BY id',
      )
      return rows.map(({ at, actor, action, key_id, detail }) => ({
        ...{ at: Number(at), actor, action, keyId: key_id, detail },
      }))
    },
  }
}

/** Only what is given is written: somebody else may be changing the rest. */
function columnsOf({ name, allowance, permissions, expiresAt }: KeyChange): [string[], SqlValue[]] {
  const columns: [string, SqlValue | undefined][] = [
    ['name', name],
    ['plan', allowance?.plan],
    ['per_minute', allowance?.limits.perMinute],
    ['per_day', allowance?.limits.perDay],
    ['permissions', permissions && permissionText(permissions)],
    ['expires_at', expiresAt === 'never' ? null : expiresAt],
  ]
  const given = columns.filter((column): column is [string, SqlValue] => column[1] !== undefined)
  return [given.map(([column]) => column), given.map(([, value]) => value)]
}

function secretOf(keyId: string, { hash, hint, createdAt, expiresAt }: StoredSecret): Statement {
  return statement(
    'INSERT INTO key_secrets (hash, key_id, hint, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)',
    ...[hash, keyId, hint, createdAt, expiresAt ?? null],
  )
}

function auditOf(act: KeyAct, action: KeyActKind, keyId: string, detail: string): Statement {
  return statement(
    'INSERT INTO audit (at, actor, action, key_id, detail) VALUES ($1, $2, $3, $4, $5)',
    ...[act.at, act.actor, action, keyId, detail],
  )
}

function toKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    limits: { perMinute: Number(row.per_minute), perDay: Number(row.per_day) },
    permissions: permissionsIn(row.permissions),
    createdAt: Number(row.created_at),
    ...(row.expires_at === null ? {} : { expiresAt: Number(row.expires_at) }),
    ...(row.revoked_at === null ? {} : { revokedAt: Number(row.revoked_at) }),
  }
}
