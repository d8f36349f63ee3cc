import type { SQLQueryBindings } from 'bun:sqlite'
import {
  CONTENT_KINDS,
  type ContentBatch,
  type ContentCounts,
  type ContentKind,
  type ContentValue,
  columnsOf,
} from '../../core/transfer/store-contents.ts'
import type { ContentStore } from '../../core/transfer/transfer-store.ts'
import { inBatches } from './batches.ts'
import type { Connection } from './connection.ts'

/** Bound at once: a statement for each row takes twice as long. */
const ROWS_A_STATEMENT = 50
/** Where the order of the rows means something that their columns do not tell. */
const ORDER: Partial<Record<ContentKind, string>> = { audit: 'id', keys: 'created_at, rowid' }

export function contentVerbs(connection: Connection): ContentStore {
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
          for await (const batch of batches) insert(writer, batch)
          // Whoever serves from it already reads it anew.
          writer.database.run('UPDATE log_state SET identity = lower(hex(randomblob(8)))')
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
