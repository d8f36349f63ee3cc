import { workerData } from 'node:worker_threads'
import {
  INDEXED_COLUMNS,
  type IndexedPetRow,
  MAX_CHANGED_PETS,
  PetSearch,
  type SearchSnapshot,
} from '../search.ts'
import { answerRequests } from '../workers.ts'
import { Connection } from './connection.ts'
import type { PostgresSettings } from './connection-options.ts'
import { DIALECT } from './dialect.ts'
import type { ChangedRow, SnapshotRow } from './stock.ts'
import { storeClock } from './store-clock.ts'

export interface PostgresReaderData {
  readonly url: string
  readonly settings: Omit<PostgresSettings, 'clock'>
}

interface ChangedPetRow
  extends Omit<IndexedPetRow, 'id'>,
    Pick<ChangedRow, 'is_pruned' | 'log_rows' | 'has_relist'> {
  readonly id: bigint | null
}

const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'
const SNAPSHOT =
  'SELECT server_token() AS server, pg_current_snapshot()::text AS snapshot, prunings FROM log_state'

/** The pets that have changed since the snapshot $1. `changedSince` in stock.ts finds changes in the same way. */
const CHANGED_PETS = `
  WITH changed AS MATERIALIZED (SELECT pet_id, kind FROM log_since($1::pg_snapshot, ${MAX_CHANGED_PETS + 1})),
    total AS (SELECT count(*) AS log_rows, bool_or(kind = 'relist') AS has_relist FROM changed)
  SELECT log_rows, has_relist, each.pet_id AS id, ${INDEXED_COLUMNS},
    prunings <> $2::bigint AND pruned_xid >= pg_snapshot_xmin($1::pg_snapshot) AS is_pruned
  FROM log_state CROSS JOIN total
  LEFT JOIN (SELECT DISTINCT pet_id FROM changed WHERE pet_id IS NOT NULL) AS each ON log_rows <= ${MAX_CHANGED_PETS}
  LEFT JOIN stock ON stock.pet_id = each.pet_id LEFT JOIN pets ON pets.id = each.pet_id`

async function searchSnapshot(connection: Connection): Promise<SearchSnapshot> {
  const session = await connection.openLongSession({ hasStatementTimeout: true })
  const close = () => session.close()
  try {
    const [, [current]] = await session.withSession((sql) =>
      Promise.all([sql.unsafe(BEGIN).execute(), sql.unsafe<SnapshotRow[]>(SNAPSHOT).execute()]),
    )
    if (current === undefined) throw new Error('the database has no identity: log_state is empty')
    return {
      rows: (text, ...values) => session.rows(text, ...values),
      batches: async function* <Row>(text: string) {
        // `sessionSettings` turns sequential scans off, but `text` reads whole tables.
        await session.run('SET LOCAL enable_seqscan = on')
        yield* session.batches<Row>(text)
      },
      // The number of lost connections is part of the cursor, because a server may reuse transaction ids after a crash.
      cursor: async () =>
        [current.snapshot, current.server, current.prunings, connection.lossCount].join('@'),
      changedSince: async (cursor) => {
        const [snapshot = '', server, prunings = '0', lossCount] = cursor.split('@')
        // The token changes when PostgreSQL restarts. Until the first token is stored, the cursor may be from before a restart.
        if (
          current.server === null ||
          server !== current.server ||
          lossCount !== String(connection.lossCount)
        )
          return 'reload'
        const rows = await session.rows<ChangedPetRow>(CHANGED_PETS, snapshot, BigInt(prunings))
        const [first] = rows
        if (first === undefined || first.is_pruned || first.has_relist === true) return 'reload'
        if (first.log_rows > BigInt(MAX_CHANGED_PETS)) return 'reload'
        return rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ ...row, id }]))
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

// The store starts this worker with this data.
const { url, settings } = workerData as PostgresReaderData
const connection = new Connection(url, settings)
let connected: Promise<void> | undefined

function connect(): Promise<void> {
  connected ??= connection.connect().catch((error: unknown) => {
    connected = undefined
    throw error
  })
  return connected
}

answerRequests({
  search: new PetSearch({
    dialect: DIALECT,
    clock: storeClock(),
    snapshot: async () => {
      await connect()
      return searchSnapshot(connection)
    },
  }),
  rows: ({ text, values }) => connection.rows(text, ...values),
  close: () => connection.close(),
})
