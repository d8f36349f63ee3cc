import {
  type ApiKey,
  changedKey,
  describeKeyChange,
  formatPermissions,
  fromKeyRow,
  KEY_ROW,
  type KeyChange,
  keyState,
  type Plan,
  STORED_SECRET,
  type StoredSecret,
  toKeyRow,
} from '../core/keys/api-key.ts'
import { type KeyActor, type KeyCommand, requireAllowed } from '../core/keys/key-command.ts'
import {
  type AuditStamp,
  KEY_AUDIT_ENTRY,
  type KeyAction,
  type KeyRecord,
  type KeyStore,
} from '../core/keys/key-store.ts'
import { MAX_SECRETS, type StoredPairingCode } from '../core/keys/pairing.ts'
import { columnsOf, MAX_INT64 } from '../core/values/field.ts'
import { type RowOf, rowReader, rowValues } from './record-rows.ts'
import {
  inLongSession,
  type LongSession,
  placeholders,
  type RowSource,
  runStatements,
  type SqlDatabase,
  type SqlValue,
  type Statement,
  statement,
} from './sql.ts'

const KEY_COLUMNS = Object.keys(columnsOf(KEY_ROW))
/** Qualified, because joined tables have columns with the same names. */
const SELECTED_KEY = KEY_COLUMNS.map((column) => `keys.${column}`).join(', ')
const readKey = rowReader(KEY_ROW)
const keyValues = rowValues(KEY_ROW)

interface KeyGroupRow extends RowOf<'keys', 'revoked_at' | 'paused_at' | 'expires_at'> {
  readonly plan: Plan
  readonly keys: bigint
}
const { revokedAt, pausedAt, expiresAt } = KEY_ROW
const readKeyTimes = rowReader({ revokedAt, pausedAt, expiresAt })

/** A pairing code with the hash $1 at the time $2. */
const VALID_CODE = 'hash = $1 AND pairing_codes.expires_at > $2'

const SECRET_COLUMNS = Object.keys(columnsOf(STORED_SECRET))
const readSecret = rowReader(STORED_SECRET)
const secretValues = rowValues(STORED_SECRET)

const AUDIT_COLUMNS = Object.keys(columnsOf(KEY_AUDIT_ENTRY)).join()
const readAuditEntry = rowReader(KEY_AUDIT_ENTRY)

/**
 * Audit rows are not always committed in the order of their ids. Readers therefore start this many ids earlier, so that they
 * do not miss a row that was committed late.
 */
const MAX_UNCOMMITTED_AUDIT_ROWS = 100n

export function keyMethods(database: SqlDatabase): KeyStore {
  const order = `created_at, ${database.dialect.apiKeyOrderColumn}`

  return {
    findKey: (hash) => findKey(database, hash),
    listSecretHashes: (after) => listSecretHashes(database, after),
    countActiveKeys: (now) => countActiveKeys(database, now),

    listKeys: () => readRecords(database, database, ''),

    listKeyPage: (limit, after) =>
      after === undefined
        ? readRecords(database, database, `ORDER BY ${order} LIMIT $1`, limit)
        : readRecords(
            database,
            database,
            `WHERE (${order}) > (SELECT ${order} FROM keys WHERE id = $1) ORDER BY ${order} LIMIT $2`,
            after,
            limit,
          ),

    findKeyRecord: async (keyId) => (await readRecords(database, database, 'WHERE id = $1', keyId))[0],

    runKeyCommand: (actor, command, at) => runKeyCommand(database, actor, command, at),

    findKeyByPairingCode: async (hash, at) => {
      const [row] = await database.rows<object>(
        `SELECT ${SELECTED_KEY} FROM pairing_codes JOIN keys ON keys.id = pairing_codes.key_id
        WHERE ${VALID_CODE}`,
        hash,
        at,
      )
      return row === undefined ? undefined : fromKeyRow(readKey(row))
    },

    pairKey: (codeHash, secret, at) => pairKey(database, codeHash, secret, at),

    listKeyAudit: async (keyId, limit, before) => {
      const rows = await database.rows<object>(
        `SELECT ${AUDIT_COLUMNS} FROM audit WHERE key_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
        keyId,
        before ?? MAX_INT64,
        limit,
      )
      return rows.map(readAuditEntry)
    },
  }
}

async function listSecretHashes(
  database: SqlDatabase,
  after: bigint | undefined,
): ReturnType<KeyStore['listSecretHashes']> {
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
}

async function countActiveKeys(database: SqlDatabase, now: number): Promise<Record<Plan, number>> {
  // One row for all keys with the same state. `keyState` decides which of them are active.
  const rows = await database.rows<KeyGroupRow>(
    `SELECT plan, min(revoked_at) AS revoked_at, min(paused_at) AS paused_at, expires_at, count(*) AS keys
    FROM keys GROUP BY plan, revoked_at IS NULL, paused_at IS NULL, expires_at`,
  )
  const counts: Record<Plan, number> = { free: 0, pro: 0, business: 0, enterprise: 0 }
  for (const { plan, keys, ...row } of rows) {
    if (keyState(readKeyTimes(row), now) === 'active') counts[plan] += Number(keys)
  }
  return counts
}

function runKeyCommand(
  database: SqlDatabase,
  actor: KeyActor,
  command: KeyCommand,
  at: number,
): Promise<KeyRecord> {
  return inTransaction(database, async (session) => {
    const keyId = command.type === 'create' ? command.key.id : command.keyId
    const locked = await lockForCommand(database, session, keyId, actor)
    requireAllowed(actor, command, locked, at)
    const stamp = { at, actor: actor.type === 'key' ? keyActorName(locked.actor) : actor.name }
    await runStatements(session, commandStatements(command, locked.target, stamp))
    return readRecord(database, session, keyId)
  })
}

/** Locks the target, the actor and every key that manages keys. */
async function lockForCommand(
  database: SqlDatabase,
  session: LongSession,
  targetId: string,
  actor: KeyActor,
) {
  const actorId = actor.type === 'key' ? actor.id : targetId
  const condition = `id = $1 OR id = $2 OR permissions LIKE '%keys%'`
  const locked = await lockKeys(database, session, condition, targetId, actorId)
  return {
    actor: actor.type === 'key' ? locked.find(({ id }) => id === actorId) : undefined,
    target: locked.find(({ id }) => id === targetId),
    managers: locked.filter(({ permissions }) => permissions.includes('keys')),
  }
}

function pairKey(
  database: SqlDatabase,
  codeHash: string,
  secret: StoredSecret,
  at: number,
): Promise<KeyRecord | undefined> {
  return inTransaction(database, async (session) => {
    const [code] = await session.rows<{ key_id: string; created_by: string }>(
      'SELECT key_id, created_by FROM pairing_codes WHERE hash = $1',
      codeHash,
    )
    if (code === undefined) return undefined
    const { key_id: keyId, created_by: createdBy } = code
    const [key] = await lockKeys(database, session, 'id = $1', keyId)
    if (key === undefined || keyState(key, at) !== 'active') return undefined
    const usedCodes = await session.run(`DELETE FROM pairing_codes WHERE ${VALID_CODE}`, codeHash, at)
    if (usedCodes === 0) return undefined
    await runStatements(session, [
      // Leaves room for the new secret.
      statement(
        `DELETE FROM key_secrets WHERE key_id = $1 AND hash NOT IN (
          SELECT hash FROM key_secrets WHERE key_id = $1 ORDER BY created_at DESC, hash LIMIT $2)`,
        keyId,
        MAX_SECRETS - 1,
      ),
      insertSecret(keyId, secret),
      insertAudit({ at, actor: keyActorName(key) }, 'pair', keyId, `with a code of ${createdBy}`),
    ])
    return readRecord(database, session, keyId)
  })
}

/** The key of the secret with this hash. Its `expiresAt` is the expiry of the key or of the secret, whichever is earlier. */
export async function findKey(source: RowSource, hash: string): Promise<ApiKey | undefined> {
  const [row] = await source.rows<{ secret_expires_at: bigint | null }>(
    `SELECT ${SELECTED_KEY}, key_secrets.expires_at AS secret_expires_at
    FROM key_secrets JOIN keys ON keys.id = key_secrets.key_id WHERE hash = $1`,
    hash,
  )
  if (row === undefined) return undefined
  const key = fromKeyRow(readKey(row))
  if (row.secret_expires_at === null) return key
  const secretExpiresAt = Number(row.secret_expires_at)
  return { ...key, expiresAt: Math.min(key.expiresAt ?? secretExpiresAt, secretExpiresAt) }
}

interface KeyUsageRow {
  readonly id: string
  /** `null` if the key was never used. */
  readonly last_used_at: bigint | null
  readonly day_started_at: bigint | null
  readonly day_used: bigint | null
  readonly ban_ends_at: bigint | null
}

function usageOf(row: KeyUsageRow): Pick<KeyRecord, 'lastUsedAt' | 'day' | 'banEndsAt'> {
  if (row.last_used_at === null) return {}
  return {
    lastUsedAt: Number(row.last_used_at),
    day: { startedAt: Number(row.day_started_at), used: Number(row.day_used) },
    ...(row.ban_ends_at === null ? {} : { banEndsAt: Number(row.ban_ends_at) }),
  }
}

/** Reads keys, oldest first, each with its secrets, newest first. `selection` holds the clauses that follow `FROM keys`. */
async function readRecords(
  database: SqlDatabase,
  source: RowSource,
  selection: string,
  ...values: readonly SqlValue[]
): Promise<KeyRecord[]> {
  const selectedKeys = `SELECT ${database.dialect.apiKeyOrderColumn} AS key_order, ${KEY_COLUMNS.join()} FROM keys ${selection}`
  const keyRows = await source.rows<KeyUsageRow>(
    `SELECT ${SELECTED_KEY}, last_used_at, day_started_at, day_used, ban_ends_at FROM (${selectedKeys}) AS keys
    LEFT JOIN limit_windows ON limit_windows.key_id = keys.id ORDER BY keys.created_at, key_order`,
    ...values,
  )
  const secretRows = await source.rows<{ key_id: string }>(
    `SELECT key_id, ${SECRET_COLUMNS.join()} FROM key_secrets
    WHERE key_id IN (SELECT id FROM (${selectedKeys}) AS keys) ORDER BY created_at DESC`,
    ...values,
  )
  const secretRowsByKey = Map.groupBy(secretRows, (row) => row.key_id)
  return keyRows.map((row) => ({
    key: fromKeyRow(readKey(row)),
    secrets: (secretRowsByKey.get(row.id) ?? []).map((secretRow) => {
      const { hash: _, ...secret } = readSecret(secretRow)
      return secret
    }),
    ...usageOf(row),
  }))
}

async function readRecord(database: SqlDatabase, session: LongSession, keyId: string): Promise<KeyRecord> {
  const [record] = await readRecords(database, session, 'WHERE id = $1', keyId)
  if (record === undefined) throw new Error(`the key ${keyId} is missing within its own transaction`)
  return record
}

function inTransaction<T>(database: SqlDatabase, work: (session: LongSession) => Promise<T>): Promise<T> {
  return inLongSession(database, (session) => session.writeInTransaction(() => work(session)), {
    hasStatementTimeout: true,
  })
}

/** Locks keys in the order of their ids. A transaction locks the key before its secrets and its pairing code. */
async function lockKeys(
  { dialect }: SqlDatabase,
  session: LongSession,
  condition: string,
  ...values: readonly SqlValue[]
): Promise<ApiKey[]> {
  const rows = await session.rows<object>(
    `SELECT ${SELECTED_KEY} FROM keys WHERE ${condition} ORDER BY id ${dialect.forUpdate}`,
    ...values,
  )
  return rows.map((row) => fromKeyRow(readKey(row)))
}

/** The name of a key in the audit log. */
function keyActorName(key: ApiKey | undefined): string {
  if (key === undefined) throw new Error('the key that makes this change does not exist')
  return `${key.name} (${key.id})`
}

function commandStatements(
  command: KeyCommand,
  target: ApiKey | undefined,
  stamp: AuditStamp,
): readonly Statement[] {
  if (command.type === 'create') return createStatements(command.key, command.secret, stamp)
  if (target === undefined) throw new Error(`the key ${command.keyId} to change is missing`)
  switch (command.type) {
    case 'change':
      return changeStatements(target, command.change, stamp)
    case 'rotate':
      return rotateStatements(target.id, command.secret, command.earlierSecretsEndAt, stamp)
    case 'revoke':
      return revokeStatements(target.id, stamp)
    case 'create_pairing_code':
      return pairingCodeStatements(target.id, command.code, stamp)
  }
}

function createStatements(key: ApiKey, secret: StoredSecret, stamp: AuditStamp): Statement[] {
  const { plan, limits, permissions } = key
  const detail = `${plan}, ${limits.perMinute} a minute, ${limits.perDay} a day, permissions: ${formatPermissions(permissions)}`
  return [
    insert('keys', KEY_COLUMNS, keyValues(toKeyRow(key))),
    insertSecret(key.id, secret),
    insertAudit(stamp, 'create', key.id, detail),
  ]
}

/** Writes only the fields that change, because a later version of the service may have written the others. */
function changeStatements(before: ApiKey, change: KeyChange, stamp: AuditStamp): Statement[] {
  const oldValues = keyValues(toKeyRow(before))
  const newValues = keyValues(toKeyRow(changedKey(before, change, stamp.at)))
  const changed = [...KEY_COLUMNS.keys()].filter((index) => oldValues[index] !== newValues[index])
  if (changed.length === 0) return []
  const assignments = changed.map((column, index) => `${KEY_COLUMNS[column]} = $${index + 2}`)
  const values = changed.map((column) => newValues[column] ?? null)
  return [
    statement(`UPDATE keys SET ${assignments} WHERE id = $1`, before.id, ...values),
    ...(change.paused === true ? [deletePairingCode(before.id)] : []),
    insertAudit(stamp, 'change', before.id, describeKeyChange(before, change).join('; ')),
  ]
}

function rotateStatements(
  keyId: string,
  secret: StoredSecret,
  earlierSecretsEndAt: number,
  stamp: AuditStamp,
): Statement[] {
  return [
    // Secrets that have ended are deleted: they would become valid again if the clock was set back.
    earlierSecretsEndAt <= stamp.at
      ? statement('DELETE FROM key_secrets WHERE key_id = $1', keyId)
      : statement(
          `UPDATE key_secrets SET expires_at = $1
          WHERE key_id = $2 AND (expires_at IS NULL OR expires_at > $1)`,
          earlierSecretsEndAt,
          keyId,
        ),
    statement('DELETE FROM key_secrets WHERE key_id = $1 AND expires_at <= $2', keyId, stamp.at),
    deletePairingCode(keyId),
    insertSecret(keyId, secret),
    insertAudit(
      stamp,
      'rotate',
      keyId,
      `earlier secrets end at ${new Date(earlierSecretsEndAt).toISOString()} at the latest`,
    ),
  ]
}

function revokeStatements(keyId: string, stamp: AuditStamp): Statement[] {
  return [
    statement('UPDATE keys SET revoked_at = $1 WHERE id = $2', stamp.at, keyId),
    deletePairingCode(keyId),
    insertAudit(stamp, 'revoke', keyId, ''),
  ]
}

function pairingCodeStatements(keyId: string, code: StoredPairingCode, stamp: AuditStamp): Statement[] {
  const columns = ['key_id', 'hash', 'expires_at', 'created_by']
  return [
    deletePairingCode(keyId),
    insert('pairing_codes', columns, [keyId, code.hash, code.expiresAt, stamp.actor]),
    insertAudit(stamp, 'create pairing code', keyId, `valid until ${new Date(code.expiresAt).toISOString()}`),
  ]
}

function deletePairingCode(keyId: string): Statement {
  return statement('DELETE FROM pairing_codes WHERE key_id = $1', keyId)
}

function insertSecret(keyId: string, secret: StoredSecret): Statement {
  return insert('key_secrets', ['key_id', ...SECRET_COLUMNS], [keyId, ...secretValues(secret)])
}

function insert(table: string, columns: readonly string[], values: readonly SqlValue[]): Statement {
  return statement(`INSERT INTO ${table} (${columns}) VALUES (${placeholders(values.length)})`, ...values)
}

function insertAudit({ at, actor }: AuditStamp, action: KeyAction, keyId: string, detail: string): Statement {
  return insert('audit', ['at', 'actor', 'action', 'key_id', 'detail'], [at, actor, action, keyId, detail])
}
