import type { LimitState } from '../../src/core/limits/limit-store.ts'
import { admit, newLimitState } from '../../src/core/limits/rate-windows.ts'
import { saveStatements } from '../../src/store/limits.ts'
import { type SqlDatabase, statement } from '../../src/store/sql.ts'
import { CASE_TIME, type LimitCase } from '../core/limit-cases.ts'

export const NOW = 1_790_000_000_000

export function bannedState(at = NOW, state = newLimitState()): LimitState {
  for (let sent = 0; sent < 5; sent++) admit(state, { perMinute: 2, perDay: 100 }, at)
  return state
}

/** Puts a key into the state of a case. Its former bans were lifted before they expired. */
export async function saveCase(database: SqlDatabase, keyId: string, { before }: LimitCase): Promise<void> {
  if (before === undefined) return
  const lifted = Array.from({ length: before.bans - (before.ban === undefined ? 0 : 1) }, (_, index) =>
    statement(
      'INSERT INTO bans (key_id, number, began_at, ends_at, lifted_at) VALUES ($1, $2, $3, $4, $3) ON CONFLICT DO NOTHING',
      ...[keyId, index + 1, CASE_TIME - 60_000, CASE_TIME + 60_000],
    ),
  )
  await database.commit([...saveStatements(new Map([[keyId, before]])), ...lifted])
}
