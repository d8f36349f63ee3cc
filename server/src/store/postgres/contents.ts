import {
  CONTENT_KINDS,
  type ContentBatch,
  type ContentCounts,
  type ContentKind,
  type ContentType,
  type ContentValue,
  columnsOf,
} from '../../core/transfer/store-contents.ts'
import type { ContentStore } from '../../core/transfer/transfer-store.ts'
import { columnOf } from './columns.ts'
import { type Connection, LONG_READ, type Session } from './connection.ts'

/** Rows that come in one piece. */
const BATCH = 5_000
const TYPES: Readonly<Record<ContentType, 'BIGINT' | 'TEXT' | 'BOOLEAN'>> = {
  integer: 'BIGINT',
  text: 'TEXT',
  boolean: 'BOOLEAN',
}
/** Where the order of the rows means something that their columns do not tell. */
const ORDER: Partial<Record<ContentKind, string>> = { audit: 'id', keys: 'number' }

export function contentVerbs(connection: Connection): ContentStore {
  return {
    countContents: () =>
      connection.longTransaction('read', async (session) => {
        const counts: Partial<Record<ContentKind, number>> = {}
        for (const kind of CONTENT_KINDS) {
          const [row] = await session.unsafe<{ rows: bigint }[]>(
            `SELECT count(*) AS rows FROM ${sourceOf(kind)}`,
          )
          counts[kind] = Number(row?.rows ?? 0)
        }
        return counts as ContentCounts
      }),

    readContents: () => read(connection),

    writeContents: (batches) =>
      connection.longTransaction('write', async (session) => {
        for await (const batch of batches) await insert(session, batch)
        // New rows of the log go on behind what was brought in.
        await session`SELECT setval('log_ids', greatest((SELECT max(id) FROM log), 0) + 1000)`
        // Whoever serves from it already reads it anew.
        await session`
          UPDATE log_state SET identity = gen_random_uuid(), prunings = prunings + 1, pruned_xid = pg_current_xact_id()`
        await session`UPDATE log_numbering SET server = ''`
      }),
  }
}

async function* read(connection: Connection): AsyncGenerator<ContentBatch> {
  const session = await connection.session()
  try {
    await connection.guard(() => session.unsafe(LONG_READ))
    for (const kind of CONTENT_KINDS) {
      const names = columnsOf(kind).map(([name]) => name)
      await connection.guard(() =>
        session.unsafe(
          `DECLARE ${kind}_rows NO SCROLL CURSOR FOR
          SELECT ${names.join()} FROM ${sourceOf(kind)} ORDER BY ${ORDER[kind] ?? '1, 2'}`,
        ),
      )
      for (;;) {
        const rows = await connection.guard(() =>
          session.unsafe<ContentValue[][]>(`FETCH ${BATCH} FROM ${kind}_rows`).values(),
        )
        if (rows.length > 0) yield { kind, rows }
        if (rows.length < BATCH) break
      }
    }
  } finally {
    await session`ROLLBACK`.catch(() => {})
    await session.release()
  }
}

/** A key that was never used may have a row to be locked. It says nothing. */
function sourceOf(kind: ContentKind): string {
  return kind === 'limit_windows' ? 'limit_windows WHERE last_used_at IS NOT NULL' : kind
}

async function insert(session: Session, { kind, rows }: ContentBatch): Promise<void> {
  const columns = columnsOf(kind)
  const arrays = columns.map(([, type], index) => columnOf(session, rows, TYPES[type], (row) => row[index]))
  const places = columns.map(([, type], index) => `$${index + 1}::${TYPES[type]}[]`)
  await session.unsafe(
    `INSERT INTO ${kind} (${columns.map(([name]) => name).join()}) SELECT * FROM unnest(${places.join()})`,
    arrays,
  )
}
