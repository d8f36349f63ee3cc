import { COUNT_ROWS } from './adjustment-rows.ts'
import { csvReader, parseRecord } from './csv-rows.ts'
import {
  type Column,
  headerOf,
  MAX_LINE_LENGTH,
  ORDER_ROWS,
  PET_ROWS,
  quoted,
  type RawRow,
  type ReadLines,
} from './exchange-rows.ts'
import { jsonReader } from './json-rows.ts'

/** What a file may hold. */
export interface FileKind<Name extends string> {
  readonly name: Name
  readonly columns: readonly Column[]
  /** How the one who writes such a file is told what it begins with. */
  readonly header: string
}

/** A file whose kind is known, and whose rows are read as they are asked for. */
export interface RowSource<Name extends string> {
  readonly kind: Name
  readonly batches: AsyncIterable<readonly RawRow[]>
}

const kindOf = <Name extends string>(name: Name, columns: readonly Column[]): FileKind<Name> => ({
  ...{ name, columns, header: `${headerOf(columns)} (${name})` },
})

export const IMPORT_KINDS = [
  kindOf('pets', PET_ROWS.columns),
  kindOf('orders', ORDER_ROWS.columns),
  kindOf('count', COUNT_ROWS.columns),
] as const

/** Looks at the first line that is not blank and tells what the file holds. Throws where that is none of the kinds. */
export async function openRows<Name extends string>(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  kinds: readonly FileKind<Name>[],
): Promise<RowSource<Name>> {
  const headers = kinds.map(({ header }) => header)
  const expected = `expected CSV with the header ${headers.join(', or ')}; or JSON Lines with these names`
  const lines = linesOf(chunks, name)
  let line = 1
  for (;;) {
    const { value: batch, done } = await lines.next()
    if (done === true) throw new Error(`${name} is empty; ${expected}`)
    const start = batch.findIndex((text) => text.trim() !== '')
    line += start === -1 ? batch.length : start
    if (start === -1) continue
    const [first = '', ...rest] = batch.slice(start)
    if (first.trimStart().startsWith('{')) {
      const { name: kind, columns } = kindOfJson(first, kinds)
      return { kind, batches: rowsOf(jsonReader(columns, line), [first, ...rest], lines) }
    }
    const header = readHeader(first, kinds)
    if (header === undefined) throw new Error(`${name} begins with ${quoted(first)}; ${expected}`)
    return { kind: header.kind, batches: rowsOf(csvReader(header.order, line + 1), rest, lines) }
  }
}

/** Text as it arrives, cut into lines without their "\n"; one that is too long is one character too long, not more. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string[], void> {
  // Drops a byte order mark, and puts U+FFFD in place of what is not UTF-8.
  const decoder = new TextDecoder()
  const cut = (line: string) => (line.length > MAX_LINE_LENGTH ? line.slice(0, MAX_LINE_LENGTH + 1) : line)
  let rest: string | undefined
  for await (const chunk of chunks) {
    if (rest === undefined && /^(?:fffe|feff)/.test(Buffer.from(chunk.subarray(0, 2)).toString('hex'))) {
      throw new Error(`${name} is UTF-16; save it as UTF-8`)
    }
    const lines = ((rest ?? '') + decoder.decode(chunk, { stream: true })).split('\n').map(cut)
    rest = lines.pop() ?? ''
    yield lines
  }
  const last = (rest ?? '') + decoder.decode()
  if (last !== '') yield [cut(last)]
}

function readHeader<Name extends string>(
  text: string,
  kinds: readonly FileKind<Name>[],
): { readonly kind: Name; readonly order: readonly number[] } | undefined {
  const names = parseRecord(text)
  if (!Array.isArray(names)) return undefined
  for (const { name, columns } of kinds) {
    const order = columns.map((column) => names.indexOf(column.name))
    const isWhole = columns.every(({ isOptional }, index) => isOptional === true || order[index] !== -1)
    if (isWhole && order.filter((index) => index !== -1).length === names.length) return { kind: name, order }
  }
  return undefined
}

/** By a name that no other kind has, or else by having all of its names. */
function kindOfJson<Name extends string>(line: string, kinds: readonly FileKind<Name>[]): FileKind<Name> {
  // Inside a JSON text the quotes around a name would be escaped.
  const isThere = ({ name }: Column) => new RegExp(`"${name}"\\s*:`).test(line)
  const isOfOne = (column: Column) =>
    kinds.filter(({ columns }) => columns.some(({ name }) => name === column.name)).length === 1
  const [first] = kinds
  if (first === undefined) throw new Error('a file of no kind cannot be read')
  return (
    kinds.find(({ columns }) => columns.some((column) => isOfOne(column) && isThere(column))) ??
    kinds.find(({ columns }) => columns.every(isThere)) ??
    first
  )
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
