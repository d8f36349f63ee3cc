import type { SQLQueryBindings } from 'bun:sqlite'
import {
  CONTENT_KINDS,
  type ContentBatch,
  type ContentCounts,
  type ContentKind,
  type ContentValue,
  columnsOf,
} from '../../core/transfer/store-contents.ts'
import type { Store } from '../store.ts'
import { inBatches } from './batches.ts'
import type { Connection } from './connection.ts'
import { HISTORY_END } from './log-end.ts'

type ContentVerbs = Pick<Store, 'countContents' | 'readContents' | 'writeContents'>

/** Bound at once: a statement for each row takes twice as long. */
const ROWS_A_STATEMENT = 50
/** Where the order of the rows means something that their columns do not tell. */
const ORDER: Partial<Record<ContentKind, string>> = { audit: 'id', keys: 'created_at, rowid' }

export function contentVerbs(connection: Connection): ContentVerbs {
  return {
    countContents: () =>
      connection.read(() => {
        const count = (kind: ContentKind) =>
          connection.database.query<{ rows: bigint }, []>(`SELECT count(*) AS rows FROM ${kind}`).get()
        return Object.fromEntries(
          CONTENT_KINDS.map((kind) => [kind, Number(count(kind)?.rows ?? 0)]),
        ) as ContentCounts
      }),

    readContents: () => read(connection),

    writeContents: async (batches) => {
      const writer = connection.another()
      try {
        writer.stopBlocking()
        await writer.writeInSteps(async () => {
          const addHistory = historyWriter(writer)
          for await (const batch of batches) {
            if (batch.kind === 'history') addHistory(batch)
            else insert(writer, batch)
          }
          // The quantities have been read: a pet that was removed and came back may have another than its history.
          writer.database.run(`UPDATE settled SET up_to = ${HISTORY_END}`)
          // For whoever serves from it already.
          writer.database.run(
            `INSERT INTO stock_changes (after_history, kind) VALUES (${HISTORY_END}, 'relist')`,
          )
        })
      } finally {
        writer.close()
      }
    },
  }
}

/** Everything of one moment: in one transaction, on a connection of its own. */
async function* read(main: Connection): AsyncGenerator<ContentBatch> {
  const reader = main.another()
  try {
    reader.stopBlocking()
    await reader.read(() => reader.database.run('BEGIN'))
    for (const kind of CONTENT_KINDS) {
      const columns = columnsOf(kind)
      const names = columns.map(([name]) => name).join()
      const found = reader.database
        .query<Record<string, ContentValue>, []>(
          `SELECT ${names} FROM ${kind} ORDER BY ${ORDER[kind] ?? '1, 2'}`,
        )
        .iterate()
      for await (const rows of inBatches(reader, found, (row) => valuesIn(row, columns))) yield { kind, rows }
    }
  } finally {
    reader.close()
  }
}

function valuesIn(row: Record<string, ContentValue>, columns: ReturnType<typeof columnsOf>): ContentValue[] {
  return columns.map(([name, type]) => (type === 'boolean' ? row[name] === 1n : (row[name] ?? null)))
}

/** Each row of the history names the pet's row before it, and the stock names the last one. */
function historyWriter({ database }: Connection) {
  const columns = columnsOf('history').map(([name]) => name)
  const latest = database.query<{ last_change: bigint | null }, [bigint]>(`
    SELECT last_change FROM settled_stock WHERE pet_id = ?1
    UNION ALL SELECT last_change FROM removed_stock WHERE pet_id = ?1
  `)
  const add = database.query<unknown, SQLQueryBindings[]>(
    `INSERT INTO history (${columns.join()}, previous) VALUES (${columns.map(() => '?').join()}, ?)`,
  )
  const keep = database.query<unknown, [bigint, bigint]>(
    'UPDATE settled_stock SET last_change = ?2 WHERE pet_id = ?1',
  )
  const keepOfRemoved = database.query<unknown, [bigint, bigint]>(`
    INSERT INTO removed_stock VALUES (?1, ?2) ON CONFLICT DO UPDATE SET last_change = excluded.last_change
  `)
  return ({ rows }: ContentBatch): void => {
    for (const row of rows) {
      const [id, petId] = row as [bigint, bigint]
      add.run(...(row as SQLQueryBindings[]), latest.get(petId)?.last_change ?? null)
      if (keep.run(petId, id).changes === 0) keepOfRemoved.run(petId, id)
    }
  }
}

function insert({ database }: Connection, { kind, rows }: ContentBatch): void {
  const columns = columnsOf(kind)
  const places = `(${columns.map(() => '?').join()})`
  const statement = (count: number) =>
    database.query<unknown, SQLQueryBindings[]>(
      `INSERT INTO ${kind === 'stock' ? 'settled_stock' : kind} (${columns.map(([name]) => name).join()}) VALUES ${Array(count).fill(places).join()}`,
    )
  const bind = (row: readonly ContentValue[]) =>
    row.map((value) => (typeof value === 'boolean' ? Number(value) : value))
  let at = 0
  for (; at + ROWS_A_STATEMENT <= rows.length; at += ROWS_A_STATEMENT) {
    statement(ROWS_A_STATEMENT).run(...rows.slice(at, at + ROWS_A_STATEMENT).flatMap(bind))
  }
  for (const row of rows.slice(at)) statement(1).run(...bind(row))
}
