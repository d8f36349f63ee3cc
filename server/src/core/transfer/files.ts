import { quote } from '../values/field.ts'
import { STOCK_COUNT_ROW_KIND } from './adjustment.ts'
import { csvLine, csvReader, type FileKind, isBeforeHeader, readHeader, rejectWorkbook } from './csv.ts'
import {
  CATEGORY_ROW_KIND,
  headerOf,
  MAX_LINE_LENGTH,
  ORDER_ROW_KIND,
  PET_ROW_KIND,
  type RawRow,
  type ReadLines,
  type RowKind,
} from './rows.ts'

export const IMPORT_KINDS = {
  pets: { label: 'pets', columns: PET_ROW_KIND.columns },
  orders: { label: 'orders', columns: ORDER_ROW_KIND.columns },
  count: { label: 'a count', columns: STOCK_COUNT_ROW_KIND.columns },
  categories: { label: 'categories', columns: CATEGORY_ROW_KIND.columns },
} as const satisfies Readonly<Record<string, FileKind>>

export type ImportKindName = keyof typeof IMPORT_KINDS
/** The cast is needed because Object.keys returns strings. */
export const IMPORT_KIND_NAMES = Object.keys(IMPORT_KINDS) as ImportKindName[]

/** Reads the header. Throws if the file is empty or its header is wrong. The rows are read on demand, and may throw `NotUtf8`. */
export async function openRows(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  kind: FileKind,
  encoding: Encoding = 'utf8',
): Promise<AsyncIterable<readonly RawRow[]>> {
  const expected = `expected CSV with the header ${headerOf(kind.columns)}`
  const lines = linesOf(chunks, file, encoding)
  let line = 1
  for (;;) {
    const { value: batch, done } = await lines.next()
    if (done === true) throw new Error(`${file} is empty; ${expected}`)
    const start = batch.findIndex((text) => !isBeforeHeader(text))
    line += start === -1 ? batch.length : start
    if (start === -1) continue
    const [first = '', ...linesAfter] = batch.slice(start)
    const header = readHeader(first, file, kind)
    if (header === undefined) throw new Error(`${file} begins with ${quote(first)}; ${expected}`)
    return rowsOf(csvReader(header.columnIndexes, header.delimiter, line + 1), linesAfter, lines)
  }
}

async function* rowsOf(
  read: ReadLines,
  firstLines: readonly string[],
  lines: AsyncIterable<readonly string[]>,
): AsyncGenerator<RawRow[]> {
  yield read(firstLines, false)
  for await (const batch of lines) yield read(batch, false)
  yield read([], true)
}

/** Writes a file with these values. An import of the file clears the fields that a value lacks. */
export async function* fileText<Value>(
  batches: AsyncIterable<readonly Value[]>,
  { columns, write }: RowKind<Value>,
): AsyncGenerator<string> {
  yield `${headerOf(columns)}\n`
  for await (const batch of batches) {
    let text = ''
    for (const value of batch) text += csvLine(columns, write(value))
    yield text
  }
}

/** The encodings of a file. latin1 is Windows-1252, which spreadsheets write. */
export const ENCODINGS = ['utf8', 'latin1'] as const
export type Encoding = (typeof ENCODINGS)[number]

const MAX_CHARACTER_BYTES = 4
const LINE_FEED = 0x0a

/** The file contains bytes that are not UTF-8. `line` is the line of the first such byte. */
export class NotUtf8 extends Error {
  override readonly name = 'NotUtf8'

  constructor(file: string, line: number) {
    super(`${file} is not UTF-8 (line ${line}) but probably Latin-1 (Windows-1252)`)
  }
}

/** The lines of a file without "\n". A line that is too long is cut to MAX_LINE_LENGTH + 1, so its reader still refuses it. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  encoding: Encoding,
): AsyncGenerator<string[], void> {
  // The decoder drops a byte order mark.
  const decoder = new TextDecoder(encoding === 'latin1' ? 'windows-1252' : 'utf-8', { fatal: true })
  const cut = (text: string) => (text.length > MAX_LINE_LENGTH ? text.slice(0, MAX_LINE_LENGTH + 1) : text)
  /** The text after the last line end; undefined before the first chunk. */
  let unfinishedLine: string | undefined
  let line = 1
  /** The bytes of the last character, which may continue in the next chunk. Empty if it is ASCII. */
  let lastCharacter: Uint8Array = new Uint8Array()
  for await (const chunk of chunks) {
    if (unfinishedLine === undefined) {
      rejectWorkbook(chunk, file)
      rejectWrongByteOrderMark(chunk, file, encoding)
    }
    let text: string
    try {
      text = decoder.decode(chunk, { stream: true })
    } catch {
      if (chunk.includes(0)) throw new Error(`${file} is not text; save it as CSV (in Excel: CSV UTF-8)`)
      throw new NotUtf8(file, line + countUtf8Lines(Buffer.concat([lastCharacter, chunk])))
    }
    lastCharacter = lastMultiByteCharacter(
      Buffer.concat([lastCharacter, chunk.subarray(-MAX_CHARACTER_BYTES)]),
    )
    const lines = ((unfinishedLine ?? '') + text).split('\n').map(cut)
    unfinishedLine = lines.pop() ?? ''
    line += lines.length
    yield lines
  }
  try {
    unfinishedLine = (unfinishedLine ?? '') + decoder.decode()
  } catch {
    throw new NotUtf8(file, line)
  }
  if (unfinishedLine !== '') yield [cut(unfinishedLine)]
}

/** Throws if the file starts with the byte order mark of another encoding. */
function rejectWrongByteOrderMark(start: Uint8Array, file: string, encoding: Encoding): void {
  const bytes = Buffer.from(start.subarray(0, 3)).toString('hex')
  if (/^(?:fffe|feff)/.test(bytes)) throw new Error(`${file} is UTF-16; save it as UTF-8`)
  if (encoding === 'latin1' && bytes === 'efbbbf') {
    throw new Error(`${file} has the byte order mark of UTF-8, so it is not Latin-1; read it as UTF-8`)
  }
}

/** The bytes of the last character, from its first byte on. Empty if it is ASCII. */
function lastMultiByteCharacter(bytes: Uint8Array): Uint8Array {
  const start = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80)
  return bytes.subarray((bytes[start] ?? 0) < 0x80 ? bytes.length : start)
}

/** The number of lines before the first line that is not UTF-8. The last line may be incomplete and is not checked. */
function countUtf8Lines(bytes: Uint8Array): number {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let lines = 0
  let start = 0
  for (;;) {
    const end = bytes.indexOf(LINE_FEED, start)
    if (end === -1) return lines
    try {
      decoder.decode(bytes.subarray(start, end))
    } catch {
      return lines
    }
    lines++
    start = end + 1
  }
}
