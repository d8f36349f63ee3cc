import { freshState, hasRoomFor, type LimitState } from '../../core/limits/rate-windows.ts'
import { type CountedRequests, dayOf, type LimitRecord } from '../../core/limits/usage.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'

interface LimitRow {
  key_id: string
  minute_started_at: bigint
  minute_used: bigint
  minute_rejected: bigint
  day_started_at: bigint
  day_used: bigint
  day_rejected: bigint
  last_used_at: bigint
  ban_number: bigint | null
  lifted_at: bigint | null
  began_at: bigint | null
  ends_at: bigint | null
}

interface BanRow {
  key_id: string
  number: bigint
  began_at: bigint
  ends_at: bigint
  lifted_at: bigint | null
}

interface UsageRow {
  key_id: string
  day: string
  accepted: bigint
  rejected: bigint
}

type LimitVerbs = Pick<
  Store,
  'loadLimits' | 'saveLimits' | 'changeLimits' | 'countRequests' | 'listLiftedBans' | 'listUsage' | 'listBans'
>

export function limitVerbs(connection: Connection): LimitVerbs {
  const { database } = connection
  const all = database.query<LimitRow, []>(`
    SELECT limit_windows.*, bans.number AS ban_number, bans.began_at, bans.ends_at, bans.lifted_at
    FROM limit_windows
    LEFT JOIN bans ON bans.key_id = limit_windows.key_id
      AND bans.number = (SELECT max(number) FROM bans WHERE key_id = limit_windows.key_id)
  `)
  const saveWindows = database.query<
    unknown,
    [string, number, number, number, number, number, number, number]
  >('INSERT OR REPLACE INTO limit_windows VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  // A ban that is there already may have been lifted meanwhile, and stays lifted.
  const saveBan = database.query<unknown, [string, number, number, number]>(`
    INSERT INTO bans (key_id, number, began_at, ends_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET began_at = excluded.began_at, ends_at = excluded.ends_at
      WHERE began_at <> excluded.began_at
  `)
  const addUsage = database.query<unknown, [string, string, number, number]>(`
    INSERT INTO usage_days VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET accepted = accepted + excluded.accepted, rejected = rejected + excluded.rejected
  `)
  const lifted = database.query<Pick<BanRow, 'key_id' | 'number'>, [number]>(
    'SELECT key_id, number FROM bans WHERE lifted_at IS NOT NULL AND ends_at > ?',
  )
  const usage = database.query<UsageRow, [string]>(
    'SELECT key_id, day, accepted, rejected FROM usage_days WHERE day >= ? ORDER BY day, key_id',
  )
  const bans = database.query<BanRow, [number]>(
    'SELECT key_id, number, began_at, ends_at, lifted_at FROM bans WHERE began_at >= ? ORDER BY began_at, key_id',
  )

  const save = (records: readonly LimitRecord[]) => {
    for (const { keyId, state, day, accepted, rejected } of records) {
      const { minute, day: whole, ban } = state
      saveWindows.run(
        ...([keyId, minute.startedAt, minute.used, minute.rejected] as const),
        ...([whole.startedAt, whole.used, whole.rejected, state.lastUsedAt] as const),
      )
      // A key can be saved because the clock was set back, without a request.
      if (accepted + rejected > 0) addUsage.run(keyId, day, accepted, rejected)
      if (ban !== undefined) saveBan.run(keyId, ban.number, ban.beganAt, ban.endsAt)
    }
  }

  return {
    loadLimits: () => connection.read(() => new Map(all.all().map((row) => [row.key_id, toState(row)]))),

    saveLimits: (records) => connection.writeUnsynced(() => save(records)),

    changeLimits: (keyIds, change) =>
      connection.writeUnsynced(() => {
        const states = new Map(all.all().map((row) => [row.key_id, toState(row)]))
        save(change(new Map(keyIds.map((keyId) => [keyId, states.get(keyId) ?? freshState()])), Date.now()))
      }),

    countRequests: (counts) =>
      connection.writeUnsynced(() => {
        const now = Date.now()
        const states = new Map(all.all().map((row) => [row.key_id, toState(row)]))
        const counted = new Map<string, CountedRequests>()
        for (const { keyId, requests, limits } of counts) {
          const state = states.get(keyId)
          if (state === undefined || !hasRoomFor(requests, state, limits, now)) continue
          state.minute.used += requests
          state.day.used += requests
          state.lastUsedAt = now
          save([{ keyId, state, day: dayOf(now), accepted: requests, rejected: 0 }])
          counted.set(keyId, { minute: state.minute, day: state.day, at: now })
        }
        return counted
      }),

    listLiftedBans: (now) =>
      connection.read(() =>
        lifted.all(now).map(({ key_id, number }) => ({ keyId: key_id, number: Number(number) })),
      ),

    listUsage: (fromDay) =>
      connection.read(() =>
        usage.all(fromDay).map(({ key_id, day, accepted, rejected }) => ({
          keyId: key_id,
          day,
          accepted: Number(accepted),
          rejected: Number(rejected),
        })),
      ),

    listBans: (since) =>
      connection.read(() =>
        bans.all(since).map((row) => ({
          keyId: row.key_id,
          number: Number(row.number),
          beganAt: Number(row.began_at),
          endsAt: Number(row.ends_at),
          ...(row.lifted_at === null ? {} : { liftedAt: Number(row.lifted_at) }),
        })),
      ),
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
    lastUsedAt: Number(row.last_used_at),
    bans: Number(row.ban_number ?? 0),
    ...(row.ban_number === null || row.lifted_at !== null
      ? {}
      : {
          ban: {
            number: Number(row.ban_number),
            beganAt: Number(row.began_at),
            endsAt: Number(row.ends_at),
          },
        }),
  }
}
