import { quoted } from '../values/exact-json.ts'
import { COUNT_ROWS } from './adjustment-rows.ts'
import { csvReader } from './csv-rows.ts'
import {
  CATEGORY_ROWS,
  type Column,
  headerOf,
  ORDER_ROWS,
  PET_ROWS,
  type RawRow,
  type ReadLines,
} from './exchange-rows.ts'
import { type FileKind, kindOfNames, readHeader } from './file-header.ts'
import { type Encoding, linesOf } from './file-lines.ts'
import { jsonReader } from './json-rows.ts'

/** A file whose kind is known, and whose rows are read as they are asked for. */
export interface RowSource<Name extends string> {
  readonly kind: Name
  readonly batches: AsyncIterable<readonly RawRow[]>
}

export const IMPORT_KINDS = [
  kindOf('pets', 'pets', PET_ROWS.columns),
  kindOf('orders', 'orders', ORDER_ROWS.columns),
  kindOf('count', 'a count', COUNT_ROWS.columns),
  kindOf('categories', 'categories', CATEGORY_ROWS.columns),
] as const

function kindOf<Name extends string>(name: Name, called: string, columns: readonly Column[]): FileKind<Name> {
  return { name, called, columns, header: `${headerOf(columns)} (${name})` }
}

/**
 * Looks at the first line that is not blank, nor a row of blanks, and tells what the file holds. Throws where that is none of the kinds, and
 * the batches throw `NotUtf8` where the file is not of this encoding.
 */
export async function openRows<Name extends string>(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  kinds: readonly FileKind<Name>[],
  encoding: Encoding = 'utf8',
): Promise<RowSource<Name>> {
  const headers = kinds.map(({ header }) => header)
  const expected = `expected CSV with the header ${headers.join(', or ')}; or JSON Lines with these names`
  const lines = linesOf(chunks, name, encoding)
  let line = 1
  for (;;) {
    const { value: batch, done } = await lines.next()
    if (done === true) throw new Error(`${name} is empty; ${expected}`)
    const start = batch.findIndex((text) => !/^[\s,;]*$/.test(text))
    line += start === -1 ? batch.length : start
    if (start === -1) continue
    const [first = '', ...rest] = batch.slice(start)
    if (first.trimStart().startsWith('{')) {
      const { name: kind, columns } = kindOfJson(first, kinds)
      return { kind, batches: rowsOf(jsonReader(columns, line), [first, ...rest], lines) }
    }
    const header = readHeader(first, name, kinds)
    if (header === undefined) throw new Error(`${name} begins with ${quoted(first)}; ${expected}`)
    const { kind, order, delimiter } = header
    return { kind, batches: rowsOf(csvReader(order, delimiter, line + 1), rest, lines) }
  }
}

function kindOfJson<Name extends string>(line: string, kinds: readonly FileKind<Name>[]): FileKind<Name> {
  // Inside a JSON text the quotes around a name would be escaped.
  const names = [...line.matchAll(/"([^"\\]*)"\s*:/g)].map(([, name = '']) => name)
  const kind = kindOfNames(names, kinds) ?? kinds[0]
  if (kind === undefined) throw new Error('a file of no kind cannot be read')
  return kind
}

async function* rowsOf(
  read: ReadLines,
  first: readonly string[],
  lines: AsyncIterable<readonly string[]>,
): AsyncGenerator<RawRow[]> {
  yield read(first, false)
  for await (const batch of lines) yield read(batch, false)
  yield read([], true)
}
