import { CsvRows, parseRecord } from './csv-rows.ts'
import { BadRow, type Column, headerOf, ORDER_ROWS, PET_ROWS, quoted } from './exchange-rows.ts'
import { fieldsOfJson } from './json-row.ts'
import { LineSplitter, LONGEST_LINE } from './line-splitter.ts'
import type { RawRow } from './staging.ts'

/** A file whose kind is known, and whose rows are read as they are asked for. */
export interface RowSource {
  readonly kind: 'pets' | 'orders'
  readonly batches: AsyncIterable<readonly RawRow[]>
}

/** A file that is neither of the two kinds in neither of the two formats. */
export class UnknownFormat extends Error {
  override readonly name = 'UnknownFormat'
}

const PETS_HEADER = headerOf(PET_ROWS.columns)
const ORDERS_HEADER = headerOf(ORDER_ROWS.columns)
const EXPECTED = `expected CSV with the header ${PETS_HEADER} (pets) or ${ORDERS_HEADER} (orders), or JSON Lines with these names`

/** Only orders have such names, and inside a JSON text the quotes around them would be escaped. */
const NAME_OF_ORDERS = /"(?:id|shipDate|complete)"\s*:/

/** Looks at the first line and tells what the file holds. Throws `UnknownFormat`. */
export async function openRows(chunks: AsyncIterable<Uint8Array>): Promise<RowSource> {
  const lines = linesOf(chunks)
  let line = 1
  for (;;) {
    const { value: batch, done } = await lines.next()
    if (done === true) throw new UnknownFormat(`is empty; ${EXPECTED}`)
    const blank = batch.findIndex((text) => text.trim() !== '')
    if (blank === -1) {
      line += batch.length
      continue
    }
    const rest = batch.slice(blank)
    line += blank
    const first = rest[0] ?? ''
    if (first.trimStart().startsWith('{')) {
      const kind = NAME_OF_ORDERS.test(first) ? 'orders' : 'pets'
      return { kind, batches: jsonRows(kind, rest, lines, line) }
    }
    const { kind, order } = readHeader(first)
    return { kind, batches: csvRows(new CsvRows(order, line + 1), rest.slice(1), lines) }
  }
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[], void> {
  // Drops a byte order mark, and puts U+FFFD in place of what is not UTF-8.
  const decoder = new TextDecoder()
  const splitter = new LineSplitter()
  let isFirst = true
  for await (const chunk of chunks) {
    if (isFirst && /^(?:fffe|feff)/.test(Buffer.from(chunk.subarray(0, 2)).toString('hex'))) {
      throw new UnknownFormat('is UTF-16; save it as UTF-8')
    }
    isFirst = false
    yield splitter.push(decoder.decode(chunk, { stream: true }))
  }
  yield [...splitter.push(decoder.decode()), ...splitter.end()]
}

function readHeader(text: string): { kind: RowSource['kind']; order: number[] } {
  const names = parseRecord(text)
  if (Array.isArray(names)) {
    for (const [kind, columns] of [
      ['pets', PET_ROWS.columns],
      ['orders', ORDER_ROWS.columns],
    ] as const) {
      const order = columns.map(({ name }: Column) => names.indexOf(name))
      if (names.length === columns.length && !order.includes(-1)) return { kind, order }
    }
  }
  throw new UnknownFormat(`begins with ${quoted(text)}; ${EXPECTED}`)
}

async function* csvRows(
  rows: CsvRows,
  first: readonly string[],
  lines: AsyncIterable<readonly string[]>,
): AsyncGenerator<RawRow[]> {
  yield rows.push(first)
  for await (const batch of lines) yield rows.push(batch)
  yield rows.push([], true)
}

async function* jsonRows(
  kind: RowSource['kind'],
  first: readonly string[],
  lines: AsyncIterable<readonly string[]>,
  firstLine: number,
): AsyncGenerator<RawRow[]> {
  const { columns } = kind === 'pets' ? PET_ROWS : ORDER_ROWS
  let line = firstLine
  const read = (batch: readonly string[]): RawRow[] => {
    const rows: RawRow[] = []
    for (const text of batch) {
      if (text.trim() !== '') rows.push(jsonRow(text, line, columns))
      line++
    }
    return rows
  }
  yield read(first)
  for await (const batch of lines) yield read(batch)
}

function jsonRow(text: string, line: number, columns: readonly Column[]): RawRow {
  if (text.length > LONGEST_LINE) return { line, reason: `is longer than ${LONGEST_LINE} characters` }
  try {
    return { line, fields: fieldsOfJson(text, columns) }
  } catch (error) {
    if (error instanceof BadRow) return { line, reason: error.message }
    throw error
  }
}
