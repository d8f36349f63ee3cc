import {
  type ApiKey,
  describeKeyChange,
  formatPermissions,
  type KeyChange,
  type Plan,
  parsePermissions,
  type StoredSecret,
} from '../core/keys/api-key.ts'
import type { AuditStamp, KeyAction, KeyStore } from '../core/keys/key-store.ts'
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

interface AuditRow {
  at: bigint
  actor: string
  action: KeyAction
  key_id: string
  detail: string
}

const COLUMNS = 'id, name, plan, per_minute, per_day, permissions, keys.created_at, revoked_at'
/** Audit rows get their id before they are committed, so up to this many rows with later ids may be committed earlier. */
const MAX_UNCOMMITTED_AUDIT_ROWS = 100n
const IS_BANNED = 'key_id = $1 AND ends_at > $2 AND lifted_at IS NULL'

/** `storeTime` is the clock that bans are measured by, if it is not the clock of the caller. */
export function keyMethods(database: SqlDatabase, storeTime?: () => Promise<number>): KeyStore {
  return {
    addKey: async (key, secret, stamp) => {
      const { plan, limits, permissions } = key
      const detail = `${plan}, ${limits.perMinute} a minute, ${limits.perDay} a day, may ${formatPermissions(permissions)}`
      const { columns, values } = toColumns(key)
      const parameters = columns.map((_, index) => `$${index + 3}`)
      await database.commit([
        statement(
          `INSERT INTO keys (id, created_at, ${columns.join()}) VALUES ($1, $2, ${parameters.join()})`,
          key.id,
          key.createdAt,
          ...values,
        ),
        insertSecret(key.id, secret),
        insertAudit(stamp, 'create', key.id, detail),
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
              after - MAX_UNCOMMITTED_AUDIT_ROWS,
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
      const secretsByKey = Map.groupBy(secrets, (row) => row.key_id)
      return rows.map((row) => ({
        key: toKey(row),
        secrets: (secretsByKey.get(row.id) ?? []).map(({ hint, created_at, expires_at }) => ({
          hint,
          createdAt: Number(created_at),
          ...(expires_at === null ? {} : { expiresAt: Number(expires_at) }),
        })),
        ...(row.last_used_at === null ? {} : { lastUsedAt: Number(row.last_used_at) }),
      }))
    },

    changeKey: async (key, change, stamp) => {
      const { columns, values } = toColumns({ ...change, ...change.allowance })
      const assignments = columns.map((column, index) => `${column} = $${index + 2}`)
      await database.commit([
        statement(`UPDATE keys SET ${assignments.join()} WHERE id = $1`, key.id, ...values),
        insertAudit(stamp, 'change', key.id, describeKeyChange(key, change).join('; ')),
      ])
    },

    rotateKey: async (keyId, secret, endAt, stamp) => {
      await database.commit([
        // Deletes the secrets instead of letting them expire: a clock that is set back would make them valid again.
        endAt <= stamp.at
          ? statement('DELETE FROM key_secrets WHERE key_id = $1', keyId)
          : statement(
              `UPDATE key_secrets SET expires_at = $1
              WHERE key_id = $2 AND (expires_at IS NULL OR expires_at > $1)`,
              endAt,
              keyId,
            ),
        insertSecret(keyId, secret),
        insertAudit(stamp, 'rotate', keyId, `earlier secrets end at ${new Date(endAt).toISOString()}`),
      ])
    },

    revokeKey: async (keyId, stamp) => {
      await database.commit([
        statement('UPDATE keys SET revoked_at = $1 WHERE id = $2', stamp.at, keyId),
        insertAudit(stamp, 'revoke', keyId, ''),
      ])
    },

    liftBan: async (keyId, { at, actor }) => {
      const now = (await storeTime?.()) ?? at
      const [, liftedBans] = await database.commit([
        statement(
          `INSERT INTO audit (at, actor, action, key_id, detail)
          SELECT $3, $4, 'unban', $1, '' WHERE EXISTS (SELECT 1 FROM bans WHERE ${IS_BANNED})`,
          keyId,
          now,
          at,
          actor,
        ),
        statement(`UPDATE bans SET lifted_at = $3 WHERE ${IS_BANNED}`, keyId, now, at),
      ])
      return liftedBans !== 0
    },

    listAudit: async () => {
      const rows = await database.rows<AuditRow>(
        'SELECT at, actor, action, key_id, detail FROM audit ORDER BY id',
      )
      return rows.map(({ at, key_id, ...rest }) => ({ ...rest, at: Number(at), keyId: key_id }))
    },
  }
}

type KeyFields = Partial<Omit<ApiKey, 'expiresAt'>> & Pick<KeyChange, 'expiresAt'>

/** The columns of the given fields. The id and the time of creation never change and are left out. */
function toColumns({ name, plan, limits, permissions, expiresAt, revokedAt }: KeyFields): {
  columns: string[]
  values: SqlValue[]
} {
  const fields: Record<string, SqlValue | undefined> = {
    name,
    plan,
    per_minute: limits?.perMinute,
    per_day: limits?.perDay,
    permissions: permissions && formatPermissions(permissions),
    expires_at: expiresAt === 'never' ? null : expiresAt,
    revoked_at: revokedAt,
  }
  const given = Object.entries(fields).filter((field): field is [string, SqlValue] => field[1] !== undefined)
  return { columns: given.map(([column]) => column), values: given.map(([, value]) => value) }
}

function insertSecret(keyId: string, { hash, hint, createdAt, expiresAt }: StoredSecret): Statement {
  return statement(
    'INSERT INTO key_secrets (hash, key_id, hint, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)',
    hash,
    keyId,
    hint,
    createdAt,
    expiresAt ?? null,
  )
}

function insertAudit({ at, actor }: AuditStamp, action: KeyAction, keyId: string, detail: string): Statement {
  return statement(
    'INSERT INTO audit (at, actor, action, key_id, detail) VALUES ($1, $2, $3, $4, $5)',
    at,
    actor,
    action,
    keyId,
    detail,
  )
}

function toKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    limits: { perMinute: Number(row.per_minute), perDay: Number(row.per_day) },
    permissions: parsePermissions(row.permissions),
    createdAt: Number(row.created_at),
    ...(row.expires_at === null ? {} : { expiresAt: Number(row.expires_at) }),
    ...(row.revoked_at === null ? {} : { revokedAt: Number(row.revoked_at) }),
  }
}
