import {
  CONTENT_KINDS,
  type ContentBatch,
  type ContentCounts,
  type ContentKind,
  type ContentValue,
  contentColumns,
} from '../core/transfer/store-contents.ts'
import type { ContentStore } from '../core/transfer/transfer-store.ts'
import { inLongSession, type SqlDatabase, statement } from './sql.ts'

export function contentVerbs(database: SqlDatabase): ContentStore {
  return {
    countContents: async () => {
      const counts = CONTENT_KINDS.map((kind) => `(SELECT count(*) FROM ${sourceOf(kind)}) AS ${kind}`)
      const [row] = await database.rows<Record<ContentKind, bigint>>(`SELECT ${counts.join()}`)
      return Object.fromEntries(
        CONTENT_KINDS.map((kind) => [kind, Number(row?.[kind] ?? 0)]),
      ) as ContentCounts
    },

    readContents: () => read(database),

    writeContents: (batches) =>
      inLongSession(database, (session) =>
        session.writeInSteps(async () => {
          for await (const { kind, rows } of batches) await session.insert(kind, contentColumns(kind), rows)
          // Whoever serves from it already reads it anew.
          for (const text of database.dialect.newIdentity) await session.run(text)
        }),
      ),

    renewIdentity: async () => {
      const { newIdentity, skipIds } = database.dialect
      await database.commit([...newIdentity, ...skipIds].map((text) => statement(text)))
    },
  }
}

/** Everything of one moment. */
async function* read(database: SqlDatabase): AsyncGenerator<ContentBatch> {
  const { keyOrder } = database.dialect
  /** Where the order of the rows means something that their columns do not tell. */
  const order: Partial<Record<ContentKind, string>> = { audit: 'id', keys: `created_at, ${keyOrder}` }
  const session = await database.longSession()
  try {
    await session.beginRead()
    for (const kind of CONTENT_KINDS) {
      const columns = Object.entries(contentColumns(kind))
      const names = columns.map(([name]) => name).join()
      const batches = session.batches<Record<string, ContentValue>>(
        `SELECT ${names} FROM ${sourceOf(kind)} ORDER BY ${order[kind] ?? '1, 2'}`,
      )
      for await (const rows of batches) {
        yield { kind, rows: rows.map((row) => columns.map(([name, type]) => contentOf(row[name], type))) }
      }
    }
  } finally {
    await session.close()
  }
}

function contentOf(value: ContentValue | undefined, type: string): ContentValue {
  return type === 'boolean' ? Boolean(value) : (value ?? null)
}

/** A key that was never used may have a row to be locked, and so may a request that was refused. They say nothing. */
function sourceOf(kind: ContentKind): string {
  if (kind === 'limit_windows') return 'limit_windows WHERE last_used_at IS NOT NULL'
  return kind === 'idempotency' ? "idempotency WHERE answer <> ''" : kind
}
