import {
  describeKeyChange,
  formatPermissions,
  fromKeyRow,
  KEY_ROW,
  type KeyChange,
  type KeyRow,
  type Plan,
  STORED_SECRET,
  type StoredSecret,
  toKeyRow,
} from '../core/keys/api-key.ts'
import type { AuditStamp, KeyAction, KeyStore } from '../core/keys/key-store.ts'
import { columnName, columnsOf } from '../core/values/field.ts'
import { rowReader, rowValues } from './record-rows.ts'
import { type SqlDatabase, type SqlValue, type Statement, statement } from './sql.ts'

const KEY_COLUMNS = Object.keys(columnsOf(KEY_ROW))
/** Qualified, because joined tables have columns with the same names. */
const SELECTED_KEY = KEY_COLUMNS.map((column) => `keys.${column}`).join(', ')
const readKey = rowReader(KEY_ROW)
const keyValues = rowValues(KEY_ROW)

const SECRET_COLUMNS = Object.keys(columnsOf(STORED_SECRET))
const readSecret = rowReader(STORED_SECRET)
const secretValues = rowValues(STORED_SECRET)

interface AuditRow {
  at: bigint
  actor: string
  action: KeyAction
  key_id: string
  detail: string
}

/** Audit rows get their ids before their commits, so this many rows with higher ids may be committed before a row. */
const MAX_UNCOMMITTED_AUDIT_ROWS = 100n
const IS_BANNED = 'key_id = $1 AND ends_at > $2 AND lifted_at IS NULL'

/** `storeTime` is the clock that bans are measured by, if it is not the clock of the caller. */
export function keyMethods(database: SqlDatabase, storeTime?: () => Promise<number>): KeyStore {
  return {
    addKey: async (key, secret, stamp) => {
      const { plan, limits, permissions } = key
      const detail = `${plan}, ${limits.perMinute} a minute, ${limits.perDay} a day, may ${formatPermissions(permissions)}`
      await database.commit([
        insert('keys', KEY_COLUMNS, keyValues(toKeyRow(key))),
        insertSecret(key.id, secret),
        insertAudit(stamp, 'create', key.id, detail),
      ])
    },

    findKey: async (hash) => {
      const [row] = await database.rows<{ secret_expires_at: bigint | null }>(
        `SELECT ${SELECTED_KEY}, key_secrets.expires_at AS secret_expires_at
        FROM key_secrets JOIN keys ON keys.id = key_secrets.key_id WHERE hash = $1`,
        hash,
      )
      if (row === undefined) return undefined
      const key = fromKeyRow(readKey(row))
      if (row.secret_expires_at === null) return key
      const secretExpiresAt = Number(row.secret_expires_at)
      return { ...key, expiresAt: Math.min(key.expiresAt ?? secretExpiresAt, secretExpiresAt) }
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
      const secretRows = await database.rows<{ key_id: string }>(
        `SELECT key_id, ${SECRET_COLUMNS.join(', ')} FROM key_secrets ORDER BY created_at DESC`,
      )
      const keyRows = await database.rows<{ id: string; last_used_at: bigint | null }>(
        `SELECT ${SELECTED_KEY}, last_used_at
        FROM keys LEFT JOIN limit_windows ON limit_windows.key_id = keys.id ORDER BY keys.created_at, keys.${database.dialect.keyOrder}`,
      )
      const secretRowsByKey = Map.groupBy(secretRows, (row) => row.key_id)
      return keyRows.map((row) => ({
        key: fromKeyRow(readKey(row)),
        secrets: (secretRowsByKey.get(row.id) ?? []).map((secretRow) => {
          const { hash: _, ...secret } = readSecret(secretRow)
          return secret
        }),
        ...(row.last_used_at === null ? {} : { lastUsedAt: Number(row.last_used_at) }),
      }))
    },

    changeKey: async (key, change, stamp) => {
      const changed = changedColumns(change)
      const assignments = changed.map(({ column }, index) => `${column} = $${index + 2}`)
      const values = changed.map(({ value }) => value)
      await database.commit([
        statement(`UPDATE keys SET ${assignments.join()} WHERE id = $1`, key.id, ...values),
        insertAudit(stamp, 'change', key.id, describeKeyChange(key, change).join('; ')),
      ])
    },

    rotateKey: async (keyId, secret, endAt, stamp) => {
      await database.commit([
        // Deleted, because expired secrets would become valid again if the clock was set back.
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

function changedColumns(change: KeyChange): { readonly column: string; readonly value: SqlValue }[] {
  const { name, allowance, permissions, expiresAt } = change
  const values: Partial<Record<keyof KeyRow, SqlValue | undefined>> = {
    name,
    plan: allowance?.plan,
    perMinute: allowance?.limits.perMinute,
    perDay: allowance?.limits.perDay,
    permissions: permissions && formatPermissions(permissions),
    expiresAt: expiresAt === 'never' ? null : expiresAt,
  }
  return Object.entries(values).flatMap(([field, value]) =>
    value === undefined ? [] : [{ column: columnName(field), value }],
  )
}

function insertSecret(keyId: string, secret: StoredSecret): Statement {
  return insert('key_secrets', ['key_id', ...SECRET_COLUMNS], [keyId, ...secretValues(secret)])
}

function insert(table: string, columns: readonly string[], values: readonly SqlValue[]): Statement {
  const parameters = values.map((_, index) => `$${index + 1}`)
  return statement(`INSERT INTO ${table} (${columns.join()}) VALUES (${parameters.join()})`, ...values)
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
