import { CATEGORY } from '../core/catalog/category.ts'
import { EXPORTED_PET, STOCKED_PET } from '../core/catalog/pet.ts'
import { LISTED_STATES, ORDER_ROW, ORDER_STATES, stateRules } from '../core/orders/order.ts'
import {
  type ContentBatch,
  type ContentCounts,
  type ContentStore,
  type ContentValue,
  contentColumns,
  GENERATED_ID_TABLES,
  type GeneratedIdTable,
  TABLE_NAMES,
  type TableName,
} from '../core/transfer/copy.ts'
import type { TransferStore } from '../core/transfer/transfer-store.ts'
import type { Fields, RecordOf } from '../core/values/field.ts'
import { exportAdjustments } from './adjustments.ts'
import { stateList } from './order-rows.ts'
import { rowReader, selectList } from './record-rows.ts'
import {
  type Dialect,
  inLongSession,
  type LongSession,
  readClock,
  type SqlDatabase,
  type StoreClock,
  statement,
} from './sql.ts'

const LISTED = stateList(LISTED_STATES)
const COMPLETE_STATES = stateList(ORDER_STATES.filter((state) => stateRules(state).isComplete))

export function transferMethods(
  database: SqlDatabase,
  clock: StoreClock,
): Omit<TransferStore, 'backupTo' | 'changeInOneTransaction'> {
  const selectStockedPets = stockedPetsStatement(database.dialect)
  return {
    findStockedPets: async (ids, barcodes) => {
      const rows = await database.rows<object>(selectStockedPets, `[${ids.join()}]`, JSON.stringify(barcodes))
      return rows.map((row) => toStockedPet(row))
    },
    readSnapshot: (read) =>
      inLongSession(database, async (session) => {
        await session.beginRead()
        return read({
          categories: exportRecords(session, CATEGORY, 'categories'),
          pets: exportRecords(
            session,
            EXPORTED_PET,
            `pets JOIN stock ON stock.pet_id = pets.id
            JOIN (SELECT id AS joined_id, name AS category FROM categories) AS category_names ON joined_id = category_id`,
          ),
          orders: exportRecords(
            session,
            ORDER_ROW,
            `(SELECT orders.*, pet_id, quantity, orders.state IN ${COMPLETE_STATES} AS complete
            FROM orders JOIN order_lines ON order_id = orders.id
            WHERE orders.state IN ${LISTED}
              AND (orders.hold_until IS NULL OR orders.hold_until > ${await readClock(session, clock)})) AS exported`,
            'id, pet_id',
          ),
          adjustments: exportAdjustments(session),
        })
      }),
  }
}

const toStockedPet = rowReader(STOCKED_PET)
const { id: _, ...FIELDS_WITHOUT_ID } = STOCKED_PET

/** A SELECT of the pets whose ids are in the JSON array $1, or whose barcodes are in the JSON array $2. */
function stockedPetsStatement({ idsInJsonArray, textsInJsonArray, joinByIndex }: Dialect): string {
  const owners = `SELECT pets.id FROM (${textsInJsonArray('$2')}) AS listed ${joinByIndex('pets', 'pets.barcode = listed.text')}`
  return `SELECT wanted.id, ${selectList(FIELDS_WITHOUT_ID)}
    FROM (${idsInJsonArray('$1')} UNION ${owners}) AS wanted
    ${joinByIndex('stock', 'stock.pet_id = wanted.id')} ${joinByIndex('pets', 'pets.id = wanted.id')}`
}

/** Reads all records in batches. `source` is the FROM clause. */
async function* exportRecords<FieldSet extends Fields>(
  session: LongSession,
  fields: FieldSet,
  source: string,
  order = 'id',
): AsyncGenerator<RecordOf<FieldSet>[]> {
  const toRecord = rowReader(fields)
  const batches = session.batches<object>(`SELECT ${selectList(fields)} FROM ${source} ORDER BY ${order}`)
  for await (const rows of batches) yield rows.map((row) => toRecord(row))
}

export function contentMethods(database: SqlDatabase): ContentStore {
  return {
    countContents: async () => {
      const counts = TABLE_NAMES.map((table) => `(SELECT count(*) FROM ${sourceOf(table)}) AS ${table}`)
      const [row] = await database.rows<Record<TableName, bigint>>(`SELECT ${counts.join()}`)
      return Object.fromEntries(
        TABLE_NAMES.map((table) => [table, Number(row?.[table] ?? 0)]),
      ) as ContentCounts
    },

    readContents: () => readContents(database),

    lastGeneratedIds: async () => {
      const { lastIdSql } = database.dialect
      const ids = GENERATED_ID_TABLES.map((table) => `(${lastIdSql(table)}) AS ${table}`)
      const [row] = await database.rows<Record<GeneratedIdTable, bigint>>(`SELECT ${ids.join()}`)
      if (row === undefined) throw new Error('the database did not return the last generated ids')
      return row
    },

    writeContents: (batches, source) =>
      inLongSession(database, (session) =>
        session.writeInTransaction(async () => {
          for await (const { table, rows } of batches)
            await session.insert(table, contentColumns(table), rows)
          // Gives the database a new identity, so that a running service reloads everything.
          for (const text of database.dialect.newIdentity) await session.run(text)
          const lastIds = await source.lastGeneratedIds()
          for (const table of GENERATED_ID_TABLES) {
            await session.rows(database.dialect.advanceIds(table), lastIds[table])
          }
        }),
      ),

    renewIdentity: async () => {
      const { newIdentity, skipIds } = database.dialect
      await database.commit([...newIdentity, ...skipIds].map((text) => statement(text)))
    },
  }
}

/** Reads all tables in batches, from one snapshot. */
async function* readContents(database: SqlDatabase): AsyncGenerator<ContentBatch> {
  const { apiKeyOrderColumn } = database.dialect
  /** Sort columns of the tables whose insertion order must be kept. Other tables are sorted by their first two columns. */
  const sortColumns: Partial<Record<TableName, string>> = {
    audit: 'id',
    keys: `created_at, ${apiKeyOrderColumn}`,
  }
  const session = await database.openLongSession()
  try {
    await session.beginRead()
    for (const table of TABLE_NAMES) {
      const columns = Object.entries(contentColumns(table))
      const names = columns.map(([name]) => name).join()
      const batches = session.batches<Record<string, ContentValue>>(
        `SELECT ${names} FROM ${sourceOf(table)} ORDER BY ${sortColumns[table] ?? '1, 2'}`,
      )
      for await (const rows of batches) {
        yield { table, rows: rows.map((row) => columns.map(([name, type]) => toContent(row[name], type))) }
      }
    }
  } finally {
    await session.close()
  }
}

/** SQLite returns boolean columns as integers; this turns them into booleans. */
function toContent(value: ContentValue | undefined, type: string): ContentValue {
  if (value === undefined || value === null) return null
  return type === 'boolean' ? Boolean(value) : value
}

/**
 * The rows to copy. Leaves out rows that exist only to be locked: limit windows of API keys that were never used, and
 * idempotency keys without a remembered answer.
 */
function sourceOf(table: TableName): string {
  if (table === 'limit_windows') return 'limit_windows WHERE last_used_at IS NOT NULL'
  return table === 'idempotency' ? "idempotency WHERE answer <> ''" : table
}
