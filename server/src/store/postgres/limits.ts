import type { SQL } from 'bun'
import type { Ban, LimitState } from '../../core/limits/rate-windows.ts'
import type { LimitRecord } from '../../core/limits/usage.ts'
import type { Store } from '../store.ts'
import { columnOf } from './columns.ts'
import type { Connection } from './connection.ts'
import type { StoreClock } from './store-clock.ts'

interface WindowRow {
  key_id: string
  minute_started_at: bigint
  minute_used: bigint
  minute_rejected: bigint
  day_started_at: bigint
  day_used: bigint
  day_rejected: bigint
  last_used_at: bigint | null
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
  'loadLimits' | 'saveLimits' | 'changeLimits' | 'listLiftedBans' | 'listUsage' | 'listBans'
>

export function limitVerbs(connection: Connection, clock: StoreClock): LimitVerbs {
  return {
    loadLimits: () =>
      connection.transaction(async (sql) => {
        const windows = await sql<WindowRow[]>`
          SELECT key_id, minute_started_at, minute_used, minute_rejected, day_started_at, day_used, day_rejected,
            last_used_at
          FROM limit_windows ORDER BY key_id`
        const bans = await sql<BanRow[]>`
          SELECT DISTINCT ON (key_id) key_id, number, began_at, ends_at, lifted_at FROM bans
          ORDER BY key_id, number DESC`
        return toStates(windows, bans)
      }),

    saveLimits: async (records) => {
      await connection.run((sql) => save(sql, records))
    },

    changeLimits: async (keyIds, change) => {
      const wanted = keyIds.toSorted()
      let missing = await attempt(connection, clock, wanted, change)
      // Their rows are made outside of that transaction: within it, a lock out of order could deadlock.
      while (missing.length > 0) {
        await connection.run((sql) => addRows(sql, missing))
        missing = await attempt(connection, clock, wanted, change)
      }
    },

    listLiftedBans: async (now) => {
      const rows = await connection.run(
        (sql) => sql<Pick<BanRow, 'key_id' | 'number'>[]>`
          SELECT key_id, number FROM bans WHERE lifted_at IS NOT NULL AND ends_at > ${now}::bigint`,
      )
      return rows.map(({ key_id, number }) => ({ keyId: key_id, number: Number(number) }))
    },

    listUsage: async (fromDay) => {
      const rows = await connection.run(
        (sql) => sql<UsageRow[]>`
          SELECT key_id, day, accepted, rejected FROM usage_days WHERE day >= ${fromDay} ORDER BY day, key_id`,
      )
      return rows.map(({ key_id, day, accepted, rejected }) => ({
        keyId: key_id,
        day,
        accepted: Number(accepted),
        rejected: Number(rejected),
      }))
    },

    listBans: async (since) => {
      const rows = await connection.run(
        (sql) => sql<BanRow[]>`
          SELECT key_id, number, began_at, ends_at, lifted_at FROM bans
          WHERE began_at >= ${since}::bigint ORDER BY began_at, key_id`,
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

/** Gives the keys that have no row to be locked yet; where there are any, nothing is changed. */
async function attempt(
  connection: Connection,
  clock: StoreClock,
  keyIds: readonly string[],
  change: Parameters<Store['changeLimits']>[1],
): Promise<string[]> {
  let missing: string[] = []
  await connection.readThenWrite(
    'forgettable',
    async (sql) => {
      const keys = () => columnOf(sql, keyIds, 'TEXT', (keyId) => keyId)
      // The bans and the time in statements of their own, which begin when the rows are locked and so see the latest.
      return Promise.all([
        sql<WindowRow[]>`
          SELECT key_id, minute_started_at, minute_used, minute_rejected, day_started_at, day_used, day_rejected,
            last_used_at
          FROM limit_windows WHERE key_id = ANY (${keys()}) ORDER BY key_id FOR NO KEY UPDATE`.execute(),
        sql<BanRow[]>`
          SELECT DISTINCT ON (key_id) key_id, number, began_at, ends_at, lifted_at FROM bans
          WHERE key_id = ANY (${keys()}) ORDER BY key_id, number DESC`.execute(),
        clock(sql),
      ])
    },
    (sql, [windows, bans, now]) => {
      const states = toStates(windows, bans)
      missing = keyIds.filter((keyId) => !states.has(keyId))
      return missing.length > 0 ? undefined : save(sql, change(states, now)).execute()
    },
  )
  return missing
}

function addRows(sql: SQL, keyIds: readonly string[]) {
  return sql`
    INSERT INTO limit_windows SELECT key_id, 0, 0, 0, 0, 0, 0, NULL
    FROM unnest(${columnOf(sql, keyIds, 'TEXT', (keyId) => keyId)}) AS new (key_id) ORDER BY key_id
    ON CONFLICT DO NOTHING`
}

/** One statement for all of it. A ban that is there already may have been lifted meanwhile, and stays lifted. */
function save(sql: SQL, records: readonly LimitRecord[]) {
  const column = (type: 'BIGINT' | 'TEXT', pick: (record: LimitRecord) => number | string | undefined) =>
    columnOf(sql, records, type, pick)
  return sql`
    WITH given AS (
      SELECT * FROM unnest(
        ${column('TEXT', ({ keyId }) => keyId)},
        ${column('BIGINT', ({ state }) => state.minute.startedAt)},
        ${column('BIGINT', ({ state }) => state.minute.used)},
        ${column('BIGINT', ({ state }) => state.minute.rejected)},
        ${column('BIGINT', ({ state }) => state.day.startedAt)},
        ${column('BIGINT', ({ state }) => state.day.used)},
        ${column('BIGINT', ({ state }) => state.day.rejected)},
        ${column('BIGINT', ({ state }) => state.lastUsedAt)},
        ${column('TEXT', ({ day }) => day)},
        ${column('BIGINT', ({ accepted }) => accepted)},
        ${column('BIGINT', ({ rejected }) => rejected)},
        ${column('BIGINT', ({ state }) => state.ban?.number)},
        ${column('BIGINT', ({ state }) => state.ban?.beganAt)},
        ${column('BIGINT', ({ state }) => state.ban?.endsAt)}
      ) AS given (key_id, minute_started_at, minute_used, minute_rejected, day_started_at, day_used, day_rejected,
        last_used_at, day, accepted, rejected, number, began_at, ends_at)
    ), windows AS (
      INSERT INTO limit_windows
      SELECT key_id, minute_started_at, minute_used, minute_rejected, day_started_at, day_used, day_rejected,
        last_used_at FROM given ORDER BY key_id
      ON CONFLICT (key_id) DO UPDATE SET
        minute_started_at = excluded.minute_started_at, minute_used = excluded.minute_used,
        minute_rejected = excluded.minute_rejected, day_started_at = excluded.day_started_at,
        day_used = excluded.day_used, day_rejected = excluded.day_rejected, last_used_at = excluded.last_used_at
    ), days AS (
      INSERT INTO usage_days SELECT key_id, day, accepted, rejected FROM given ORDER BY key_id
      ON CONFLICT (key_id, day) DO UPDATE SET
        accepted = usage_days.accepted + excluded.accepted, rejected = usage_days.rejected + excluded.rejected
    )
    INSERT INTO bans (key_id, number, began_at, ends_at)
    SELECT key_id, number, began_at, ends_at FROM given WHERE number IS NOT NULL ORDER BY key_id
    ON CONFLICT (key_id, number) DO UPDATE SET began_at = excluded.began_at, ends_at = excluded.ends_at
      WHERE bans.began_at <> excluded.began_at`
}

function toStates(windows: readonly WindowRow[], bans: readonly BanRow[]): Map<string, LimitState> {
  const latest = new Map(bans.map((row) => [row.key_id, row]))
  return new Map(
    windows.map((row) => {
      const ban = latest.get(row.key_id)
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
        bans: Number(ban?.number ?? 0),
        ...(ban === undefined || ban.lifted_at !== null ? {} : { ban: toBan(ban) }),
      }
      return [row.key_id, state]
    }),
  )
}

function toBan({ number, began_at, ends_at }: BanRow): Ban {
  return { number: Number(number), beganAt: Number(began_at), endsAt: Number(ends_at) }
}
