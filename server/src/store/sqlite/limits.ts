import type { LimitState } from '../../core/rate-windows.ts'
import type { Store } from '../../core/store.ts'
import type { Connection } from './connection.ts'

interface LimitRow {
  key_id: string
  minute_started_at: bigint
  minute_used: bigint
  minute_rejected: bigint
  day_started_at: bigint
  day_used: bigint
  day_rejected: bigint
  began_at: bigint | null
  ends_at: bigint | null
}

type LimitVerbs = Pick<Store, 'loadLimits' | 'saveLimits'>

export function limitVerbs(connection: Connection): LimitVerbs {
  const { database } = connection
  const all = database.query<LimitRow, []>(`
    SELECT limit_windows.*, bans.began_at, bans.ends_at
    FROM limit_windows
    LEFT JOIN bans ON bans.key_id = limit_windows.key_id
      AND bans.began_at = (SELECT max(began_at) FROM bans WHERE key_id = limit_windows.key_id)
  `)
  const saveWindows = database.query<unknown, [string, number, number, number, number, number, number]>(
    'INSERT OR REPLACE INTO limit_windows VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const saveBan = database.query<unknown, [string, number, number]>(
    'INSERT OR REPLACE INTO bans (key_id, began_at, ends_at) VALUES (?, ?, ?)',
  )

  return {
    loadLimits: () => connection.read(() => new Map(all.all().map((row) => [row.key_id, toState(row)]))),

    saveLimits: (states) =>
      connection.writeUnsynced(() => {
        for (const [keyId, { minute, day, ban }] of states) {
          saveWindows.run(
            keyId,
            minute.startedAt,
            minute.used,
            minute.rejected,
            day.startedAt,
            day.used,
            day.rejected,
          )
          if (ban !== undefined) saveBan.run(keyId, ban.beganAt, ban.endsAt)
        }
      }),
  }
}

function toState(row: LimitRow): LimitState {
  return {
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
    ...(row.began_at === null || row.ends_at === null
      ? {}
      : { ban: { beganAt: Number(row.began_at), endsAt: Number(row.ends_at) } }),
  }
}
