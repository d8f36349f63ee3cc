import type { LedgerStore, LimitState, UsageStore } from '../core/limits/limit-store.ts'
import { COPIED_TABLES } from '../core/transfer/copy.ts'
import type { RowOf } from './record-rows.ts'
import { excludedValues, insertRows, type SqlDatabase, type Statement } from './sql.ts'

export interface LimitRow extends RowOf<'limit_windows', 'last_used_at'> {
  readonly ban_number: bigint | null
  readonly began_at: bigint | null
  readonly ends_at: bigint | null
  readonly lifted_at: bigint | null
}

/** Selects `LimitRow`s: the windows of keys, each with its latest ban. */
export const SELECT_LIMIT_ROWS = `
  SELECT limit_windows.*, bans.number AS ban_number, bans.began_at, bans.ends_at, bans.lifted_at
  FROM limit_windows
  LEFT JOIN bans ON bans.key_id = limit_windows.key_id
    AND bans.number = (SELECT max(number) FROM bans AS key_bans WHERE key_bans.key_id = limit_windows.key_id)`

export function usageMethods(database: SqlDatabase): UsageStore {
  return {
    loadLimits: async () => toStates(await database.rows<LimitRow>(SELECT_LIMIT_ROWS)),

    listBans: async (since) => {
      const rows = await database.rows<RowOf<'bans', 'lifted_at'>>(
        `SELECT key_id, number, began_at, ends_at, lifted_at FROM bans
        WHERE began_at >= $1 ORDER BY began_at, key_id`,
        since,
      )
      return rows.map((row) => ({
        keyId: row.key_id,
        number: Number(row.number),
        beganAt: Number(row.began_at),
        endsAt: Number(row.ends_at),
        ...(row.lifted_at === null ? {} : { liftedAt: Number(row.lifted_at) }),
      }))
    },
  }
}

/** For SQLite, where one process serves all requests: the process counts in memory and saves its counts here. */
export function ledgerStore(database: SqlDatabase): LedgerStore {
  return {
    loadLimits: usageMethods(database).loadLimits,

    saveLimits: async (states) => {
      await database.commit(saveStatements(states), 'unflushed')
    },

    listLiftedBans: async (now) => {
      const rows = await database.rows<Pick<RowOf<'bans'>, 'key_id' | 'number'>>(
        'SELECT key_id, number FROM bans WHERE lifted_at IS NOT NULL AND ends_at > $1',
        now,
      )
      return rows.map(({ key_id, number }) => ({ keyId: key_id, number: Number(number) }))
    },
  }
}

export function toStates(rows: readonly LimitRow[]): Map<string, LimitState> {
  return new Map(rows.map((row) => [row.key_id, toState(row)]))
}

export function toState(row: LimitRow): LimitState {
  const state: LimitState = {
    minute: {
      startedAt: Number(row.minute_started_at),
      used: Number(row.minute_used),
      rejected: Number(row.minute_rejected),
    },
    day: {
      startedAt: Number(row.day_started_at),
      used: Number(row.day_used),
      rejected: Number(row.day_rejected),
    },
    lastUsedAt: Number(row.last_used_at ?? 0),
    bans: Number(row.ban_number ?? 0),
  }
  if (row.ban_number !== null && row.lifted_at === null) {
    state.ban = { number: state.bans, beganAt: Number(row.began_at), endsAt: Number(row.ends_at) }
  }
  return state
}

const WINDOW_COLUMNS = Object.keys(COPIED_TABLES.limit_windows).filter((column) => column !== 'key_id')

/** Statements that save the states of keys. They never overwrite `lifted_at`: an operator may have lifted a ban meanwhile. */
export function saveStatements(states: ReadonlyMap<string, LimitState>): Statement[] {
  return [
    ...insertRows(
      `limit_windows (key_id, ${WINDOW_COLUMNS})`,
      Array.from(states, ([keyId, { minute, day, lastUsedAt }]) => [
        keyId,
        minute.startedAt,
        minute.used,
        minute.rejected,
        day.startedAt,
        day.used,
        day.rejected,
        lastUsedAt,
      ]),
      `ON CONFLICT (key_id) DO UPDATE SET ${excludedValues(WINDOW_COLUMNS)}`,
    ),
    ...insertRows(
      'bans (key_id, number, began_at, ends_at)',
      [...states].flatMap(([keyId, { ban }]) =>
        ban === undefined ? [] : [[keyId, ban.number, ban.beganAt, ban.endsAt]],
      ),
      `ON CONFLICT (key_id, number) DO UPDATE SET began_at = excluded.began_at, ends_at = excluded.ends_at
        WHERE bans.began_at <> excluded.began_at`,
    ),
  ]
}
