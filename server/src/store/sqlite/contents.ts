import type { SQLQueryBindings } from 'bun:sqlite'
import type { Store } from '../../core/store.ts'
import {
  CONTENT_KINDS,
  type ContentBatch,
  type ContentCounts,
  type ContentKind,
  type ContentValue,
  columnsOf,
} from '../../core/store-contents.ts'
import type { Connection } from './connection.ts'
import { HISTORY_END } from './stock-events.ts'

type ContentVerbs = Pick<Store, 'countContents' | 'readContents' | 'writeContents'>

/** Rows read before others get a turn. */
const BATCH = 5_000
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
          const links = historyWriter(writer)
          for await (const batch of batches) {
            if (batch.kind === 'history') links.add(batch)
            else insert(writer, batch)
          }
          links.end()
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
      for (;;) {
        const rows = await reader.read(() => nextRows(found, columns))
        if (rows.length > 0) yield { kind, rows }
        if (rows.length < BATCH) break
      }
    }
  } finally {
    reader.close()
  }
}

function nextRows(
  found: Iterator<Record<string, ContentValue>>,
  columns: ReturnType<typeof columnsOf>,
): ContentValue[][] {
  const rows: ContentValue[][] = []
  while (rows.length < BATCH) {
    const { value: row, done } = found.next()
    if (done === true) break
    rows.push(columns.map(([name, type]) => (type === 'boolean' ? row[name] === 1n : (row[name] ?? null))))
  }
  return rows
}

/**
 * Each row of the history names the pet's row before it, and each one sets the stock anew, which in the end has to be
 * as it was read: a pet that was removed and came back may have another quantity than its history.
 */
function historyWriter({ database }: Connection) {
  let isBegun = false
  const columns = columnsOf('history').map(([name]) => name)
  const begin = () => {
    isBegun = true
    database.run('CREATE TEMP TABLE stock_as_read AS SELECT pet_id, quantity FROM stock')
  }
  return {
    add({ rows }: ContentBatch): void {
      if (!isBegun) begin()
      const link = database.query<{ last_change: bigint | null }, [bigint]>(
        'SELECT last_change FROM stock WHERE pet_id = ?1 UNION ALL SELECT last_change FROM removed_stock WHERE pet_id = ?1',
      )
      const add = database.query<unknown, SQLQueryBindings[]>(
        `INSERT INTO history (${columns.join()}, previous) VALUES (${columns.map(() => '?').join()}, ?)`,
      )
      const keep = database.query<unknown, [bigint, bigint]>(`
        INSERT INTO removed_stock SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM stock WHERE pet_id = ?1)
        ON CONFLICT DO UPDATE SET last_change = excluded.last_change
      `)
      for (const row of rows) {
        const [id, petId] = row as [bigint, bigint]
        add.run(...(row as SQLQueryBindings[]), link.get(petId)?.last_change ?? null)
        keep.run(petId, id)
      }
    },
    end(): void {
      if (!isBegun) return
      database.run(`
        UPDATE stock SET quantity = stock_as_read.quantity FROM stock_as_read
        WHERE stock_as_read.pet_id = stock.pet_id AND stock_as_read.quantity <> stock.quantity
      `)
      database.run('DROP TABLE stock_as_read')
    },
  }
}

function insert({ database }: Connection, { kind, rows }: ContentBatch): void {
  const columns = columnsOf(kind)
  const places = `(${columns.map(() => '?').join()})`
  const statement = (count: number) =>
    database.query<unknown, SQLQueryBindings[]>(
      `INSERT INTO ${kind} (${columns.map(([name]) => name).join()}) VALUES ${Array(count).fill(places).join()}`,
    )
  const bind = (row: readonly ContentValue[]) =>
    row.map((value) => (typeof value === 'boolean' ? Number(value) : value))
  let at = 0
  for (; at + ROWS_A_STATEMENT <= rows.length; at += ROWS_A_STATEMENT) {
    statement(ROWS_A_STATEMENT).run(...rows.slice(at, at + ROWS_A_STATEMENT).flatMap(bind))
  }
  for (const row of rows.slice(at)) statement(1).run(...bind(row))
}
