import type { Adjustment, AdjustmentLine, AdjustmentRow } from '../core/stock/adjustment.ts'
import type { HistoryStore } from '../core/stock/stock-store.ts'
import { REVERSED_UNITS } from './facts.ts'
import { type ListedRow, type LogList, readLogPage, SCAN_LIMITS, toCursor } from './history.ts'
import { fromDocumentDetail, IS_FACT, type LogRow, purposeOf } from './log-rows.ts'
import { type LongSession, placeholders, type RowSource } from './sql.ts'

const LINE_COLUMNS =
  'id, kind, pet_id, before, after, at, key_id, reason, reference, detail, document, occurred_at, delta, counted, effect, order_id, reverses'

type LineRow = Pick<
  LogRow,
  | 'id'
  | 'kind'
  | 'before'
  | 'after'
  | 'at'
  | 'key_id'
  | 'reason'
  | 'reference'
  | 'detail'
  | 'occurred_at'
  | 'delta'
  | 'counted'
  | 'effect'
  | 'order_id'
  | 'reverses'
> & { readonly pet_id: bigint; readonly document: bigint }

type ListedLine = ListedRow & Pick<LineRow, 'document'>

/** Lists the adjustments by their first rows or, if the filter names a pet, by the row of the pet. */
const listOf = (isOfPet: boolean): LogList<ListedLine, ListedLine> => ({
  isListed: isOfPet ? IS_FACT : 'document = id',
  columns: 'id, pet_id, at, key_id, document',
  lookups: [],
  toEntry: (line) => line,
})

/** A page ends after this many lines, because other requests wait while they are put together. */
export const MAX_LISTED_LINES = 5_000

export function adjustmentMethods(
  database: RowSource,
): Pick<HistoryStore, 'findAdjustment' | 'listAdjustments'> {
  return {
    findAdjustment: async (id) => {
      const [adjustment] = await readAdjustments(database, await readFirstRows(database, [id]))
      return adjustment
    },

    listAdjustments: async (limit, cursor, filter) => {
      const list = listOf(filter.petId !== undefined)
      const page = await readLogPage(database, list, { limit, cursor, filter }, SCAN_LIMITS)
      const documents = page.rows.map(({ document }) => document)
      const firstRows = await readFirstRows(database, documents)
      const shown = firstRows.slice(0, countShown(firstRows))
      const last = page.rows.find(({ document }) => document === shown.at(-1)?.id)
      const isCut = last !== undefined && shown.length < firstRows.length
      return { rows: await readAdjustments(database, shown), next: isCut ? toCursor(last) : page.next }
    },
  }
}

/** The first rows of the adjustments with these ids, in this order. Ids of other log rows are left out. */
async function readFirstRows(database: RowSource, ids: readonly bigint[]): Promise<LineRow[]> {
  if (ids.length === 0) return []
  const rows = await database.rows<LineRow>(
    `SELECT ${LINE_COLUMNS} FROM log WHERE id IN (${placeholders(ids.length)}) AND document = id`,
    ...ids,
  )
  const rowsById = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => rowsById.get(id) ?? [])
}

/** How many of the adjustments have at most MAX_LISTED_LINES lines together. At least one. */
function countShown(firstRows: readonly LineRow[]): number {
  let lines = 0
  const count = firstRows.findIndex((row) => {
    lines += lineCountOf(row)
    return lines > MAX_LISTED_LINES
  })
  return count === -1 ? firstRows.length : Math.max(1, count)
}

async function readAdjustments(database: RowSource, firstRows: readonly LineRow[]): Promise<Adjustment[]> {
  if (firstRows.length === 0) return []
  const rows = [...firstRows, ...(await readLaterLines(database, firstRows))]
  const reversals = await readReversals(database, firstRows)
  const linesByDocument = Map.groupBy(rows, ({ document }) => document)
  return firstRows.map((row) => toAdjustment(linesByDocument.get(row.id) ?? [], reversals.get(row.id) ?? []))
}

/**
 * The rows of an adjustment follow its first row, which has their number. The query names each of them: for many ranges, PostgreSQL
 * would expect most of the log and scan it.
 */
function readLaterLines(database: RowSource, firstRows: readonly LineRow[]): Promise<LineRow[]> {
  const ids = firstRows.flatMap((row) =>
    Array.from({ length: lineCountOf(row) - 1 }, (_, index) => row.id + BigInt(index + 1)),
  )
  const last = ids.at(-1)
  if (last === undefined) return Promise.resolve([])
  // The database keeps a plan for each length of the list, so there are only a few lengths.
  while (!Number.isInteger(Math.log2(ids.length))) ids.push(last)
  return database.rows(
    `SELECT ${LINE_COLUMNS} FROM log WHERE id IN (${placeholders(ids.length)}) ORDER BY id`,
    ...ids,
  )
}

function lineCountOf({ kind, detail }: LineRow): number {
  return kind === 'change' ? fromDocumentDetail(detail).lines : 1
}

/** The lines of all adjustments in batches, as they were recorded. */
export async function* exportAdjustments(session: LongSession): AsyncGenerator<AdjustmentRow[]> {
  const batches = session.batches<LineRow>(`SELECT ${LINE_COLUMNS} FROM log WHERE ${IS_FACT} ORDER BY id`)
  // The lines of an adjustment follow each other, and may begin in one batch and end in the next.
  let head: ReturnType<typeof toHead> | undefined
  for await (const rows of batches) {
    yield rows.map((row) => {
      if (head?.id !== row.document) head = toHead(row)
      const { reversed: _, ...line } = toLine(row, [])
      return { ...head, ...line }
    })
  }
}

interface ReversalRow {
  /** The adjustment that is reversed. */
  readonly reverses: bigint
  readonly document: bigint
  readonly pet_id: bigint
  readonly units: bigint
}

async function readReversals(
  database: RowSource,
  firstRows: readonly LineRow[],
): Promise<Map<bigint, ReversalRow[]>> {
  const rows = await database.rows<ReversalRow>(
    `SELECT reverses, document, pet_id, ${REVERSED_UNITS} AS units FROM log
      WHERE reverses IN (${placeholders(firstRows.length)}) GROUP BY reverses, document, pet_id ORDER BY document`,
    ...firstRows.map(({ id }) => id),
  )
  return Map.groupBy(rows, ({ reverses }) => reverses)
}

function toAdjustment(rows: readonly LineRow[], reversals: readonly ReversalRow[]): Adjustment {
  const [first] = rows
  if (first === undefined) throw new Error('an adjustment must have a line')
  return {
    ...toHead(first),
    reversedBy: [...new Set(reversals.map(({ document }) => document))],
    lines: rows.map((row) => toLine(row, reversals)),
  }
}

/** What the first row of an adjustment says about all of its lines. */
function toHead(first: LineRow): Omit<Adjustment, 'reversedBy' | 'lines'> {
  const { kind, at, occurred_at, key_id: keyId, order_id, reverses, detail } = first
  const { note = undefined } = kind === 'change' ? fromDocumentDetail(detail) : {}
  return {
    id: first.document,
    ...purposeOf(first),
    ...(note === undefined ? {} : { note }),
    occurredAt: Number(occurred_at ?? at),
    recordedAt: Number(at),
    keyId,
    ...(order_id === null ? {} : { orderId: order_id }),
    ...(reverses === null ? {} : { reverses }),
  }
}

function toLine(
  { pet_id, counted, effect, ...row }: LineRow,
  reversals: readonly ReversalRow[],
): AdjustmentLine {
  const before = Number(row.before)
  const after = Number(row.after ?? 0)
  const reversed = reversals
    .filter((reversal) => reversal.pet_id === pet_id)
    .reduce((sum, { units }) => sum + Number(units), 0)
  return {
    petId: pet_id,
    before,
    after,
    delta: row.delta === null ? after - before : Number(row.delta),
    ...(counted === null ? {} : { counted: Number(counted) }),
    effect: effect ?? 'applied',
    reversed,
  }
}
