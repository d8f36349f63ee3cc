import type { Ban, LedgerStore, LimitState, Window } from '../core/limits/limit-store.ts'
import { COPIED_TABLES } from '../core/transfer/copy.ts'
import type { RowOf } from './record-rows.ts'
import { excludedValues, insertRows, type SqlDatabase, type Statement } from './sql.ts'

export type LimitRow = RowOf<
  'limit_windows',
  'last_used_at' | 'minute_first_rejected_at' | 'day_first_rejected_at' | 'ban_began_at' | 'ban_ends_at'
>

/** For SQLite, where one process serves all requests: the process counts in memory and saves its counts here. */
export function ledgerStore(database: SqlDatabase): LedgerStore {
  return {
    loadLimits: async () => toStates(await database.rows<LimitRow>('SELECT * FROM limit_windows')),

    saveLimits: async (states) => {
      await database.commit(saveStatements(states), 'unflushed')
    },
  }
}

export function toStates(rows: readonly LimitRow[]): Map<string, LimitState> {
  return new Map(rows.map((row) => [row.key_id, toState(row)]))
}

export function toState(row: LimitRow): LimitState {
  const ban = toBan(row)
  return {
    minute: toWindow(
      row.minute_started_at,
      row.minute_used,
      row.minute_first_rejected_at,
      row.minute_rejected,
    ),
    day: toWindow(row.day_started_at, row.day_used, row.day_first_rejected_at, row.day_rejected),
    lastUsedAt: Number(row.last_used_at ?? 0),
    ...(ban === undefined ? {} : { ban }),
  }
}

function toWindow(startedAt: bigint, used: bigint, firstRejectedAt: bigint | null, rejected: bigint): Window {
  return {
    startedAt: Number(startedAt),
    used: Number(used),
    ...(firstRejectedAt === null ? {} : { firstRejectedAt: Number(firstRejectedAt) }),
    rejected: Number(rejected),
  }
}

function toBan({ ban_began_at, ban_ends_at }: LimitRow): Ban | undefined {
  if (ban_began_at === null || ban_ends_at === null) return undefined
  return { beganAt: Number(ban_began_at), endsAt: Number(ban_ends_at) }
}

const STATE_COLUMNS = Object.keys(COPIED_TABLES.limit_windows).filter((column) => column !== 'key_id')

/** Statements that save the states of keys. */
export function saveStatements(states: ReadonlyMap<string, LimitState>): Statement[] {
  return insertRows(
    `limit_windows (key_id, ${STATE_COLUMNS})`,
    Array.from(states, ([keyId, { minute, day, lastUsedAt, ban }]) => [
      keyId,
      minute.startedAt,
      minute.used,
      minute.firstRejectedAt ?? null,
      minute.rejected,
      day.startedAt,
      day.used,
      day.firstRejectedAt ?? null,
      day.rejected,
      lastUsedAt,
      ban?.beganAt ?? null,
      ban?.endsAt ?? null,
    ]),
    `ON CONFLICT (key_id) DO UPDATE SET ${excludedValues(STATE_COLUMNS)}`,
  )
}
