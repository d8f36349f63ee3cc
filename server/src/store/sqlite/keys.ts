import type { ApiKey } from '../../core/api-key.ts'
import type { Plan } from '../../core/plans.ts'
import type { Store } from '../../core/store.ts'
import type { Connection } from './connection.ts'

interface KeyRow {
  id: string
  name: string
  plan: Plan
  per_minute: bigint
  per_day: bigint
  created_at: bigint
  expires_at: bigint | null
  revoked_at: bigint | null
}

type KeyVerbs = Pick<Store, 'addKey' | 'findKey'>

export function keyVerbs(connection: Connection): KeyVerbs {
  const { database } = connection
  const byHash = database.query<KeyRow, [string]>(
    `SELECT id, name, plan, per_minute, per_day, created_at, expires_at, revoked_at FROM keys WHERE hash = ?`,
  )
  const add = database.query<
    unknown,
    [string, string, string, Plan, number, number, number, number | null, number | null]
  >(
    `INSERT INTO keys (id, hash, name, plan, per_minute, per_day, created_at, expires_at, revoked_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )

  return {
    addKey: ({ id, name, plan, limits, createdAt, expiresAt, revokedAt }, hash) =>
      connection.write(() => {
        add.run(
          id,
          hash,
          name,
          plan,
          limits.perMinute,
          limits.perDay,
          createdAt,
          expiresAt ?? null,
          revokedAt ?? null,
        )
      }),

    findKey: (hash) =>
      connection.read(() => {
        const row = byHash.get(hash)
        return row === null ? undefined : toKey(row)
      }),
  }
}

function toKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    limits: { perMinute: Number(row.per_minute), perDay: Number(row.per_day) },
    createdAt: Number(row.created_at),
    ...(row.expires_at === null ? {} : { expiresAt: Number(row.expires_at) }),
    ...(row.revoked_at === null ? {} : { revokedAt: Number(row.revoked_at) }),
  }
}
