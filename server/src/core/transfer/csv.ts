import Papa from 'papaparse'
import type { Column, FieldText, RawRow } from './rows.ts'

/** The encodings of a file. latin1 is Windows-1252, which spreadsheets write. */
export const ENCODINGS = ['utf8', 'latin1'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** The file is not a text in its encoding, or has no header. The message is for the person who has the file. */
export class BadFile extends Error {
  override readonly name = 'BadFile'
  /** Which file of an import it is. */
  readonly kind: string | undefined

  constructor(message: string, kind?: string) {
    super(message)
    this.kind = kind
  }
}

/** Throws `BadFile` if the bytes are not a text in this encoding. */
export function decodeFile(bytes: Uint8Array, encoding: Encoding): string {
  const signature = Array.from(bytes.subarray(0, 4), (byte) => byte.toString(16).padStart(2, '0')).join('')
  if (signature === '504b0304' || signature === 'd0cf11e0') {
    throw new BadFile('the file is a spreadsheet workbook; save it as CSV (in Excel: CSV UTF-8)')
  }
  if (/^(?:fffe|feff)/.test(signature)) throw new BadFile('the file is UTF-16; save it as CSV UTF-8')
  if (bytes.includes(0)) throw new BadFile('the file is not text; save it as CSV (in Excel: CSV UTF-8)')
  if (encoding === 'latin1') {
    if (!signature.startsWith('efbbbf')) return new TextDecoder('windows-1252').decode(bytes)
    throw new BadFile('the file has the byte order mark of UTF-8, so it is not Latin-1; read it as UTF-8')
  }
  try {
    // The decoder drops a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const [textBefore = ''] = new TextDecoder('utf-8').decode(bytes).split('\ufffd', 1)
    const line = textBefore.split('\n').length
    throw new BadFile(
      `the file is not UTF-8 (line ${line}) but probably Latin-1 (Windows-1252); choose the encoding latin1, or save it as UTF-8 (in Excel: CSV UTF-8)`,
    )
  }
}

/** Spreadsheets write different delimiters in different countries. */
const DELIMITERS = [',', ';', '\t'] as const
export type Delimiter = (typeof DELIMITERS)[number]

export interface Header {
  readonly names: readonly string[]
  readonly delimiter: Delimiter
  /** Where the text after the header begins, and the number of its first line. */
  readonly end: number
  readonly nextLine: number
}

/** Blank lines, and a line that names the delimiter for Excel (`sep=;`), may precede the header. */
const BEFORE_HEADER = /^[\s,;]*$|^"?sep=.?"?\s*$/i

/** The first line. Uses the delimiter that yields the most names. */
export function readHeader(text: string): Header {
  let start = 0
  for (let nextLine = 2; start < text.length; nextLine++) {
    const lineEnd = text.indexOf('\n', start)
    const end = lineEnd === -1 ? text.length : lineEnd + 1
    const line = text.slice(start, end)
    start = end
    if (BEFORE_HEADER.test(line)) continue
    const candidates = DELIMITERS.map((delimiter) => ({
      delimiter,
      names: (parse(line.trimEnd(), delimiter).data[0] ?? []).map((name) => name.trim()),
    }))
    const best = candidates.reduce((one, other) => (other.names.length > one.names.length ? other : one))
    return { ...best, end, nextLine }
  }
  throw new BadFile('the file is empty; the first line must name the columns')
}

/** A slice is parsed in a few milliseconds. */
const SLICE_CHARACTERS = 256 * 1_024
const UNCLOSED_QUOTE = 'a quote (") opens a field and is not closed'
const MALFORMED_QUOTE = 'a quote (") inside a quoted field must be written twice ("")'

/** Reads the rows after the header in batches. Skips blank rows. Each row has as many fields as the header has names. */
export function* readRows(text: string, { names, delimiter, end, nextLine }: Header): Generator<RawRow[]> {
  let line = nextLine
  let size = SLICE_CHARACTERS
  for (let start = end; start < text.length; ) {
    const isLast = start + size >= text.length
    const { data, errors, meta } = parse(text.slice(start, start + size), delimiter, isLast)
    if (data.length === 0 && !isLast) {
      // A row is longer than the slice.
      size *= 2
      continue
    }
    const rows: RawRow[] = []
    for (const [index, record] of data.entries()) {
      const quoteError = errors.find(({ row }) => row === index)
      if (quoteError !== undefined) {
        rows.push({ line, reason: quoteError.code === 'MissingQuotes' ? UNCLOSED_QUOTE : MALFORMED_QUOTE })
      } else if (record.some((field) => field.trim() !== '')) rows.push(toRow(line, record, names.length))
      line += 1 + record.reduce((count, field) => count + countLineEnds(field), 0)
    }
    yield rows
    start = isLast ? text.length : start + meta.cursor
    size = SLICE_CHARACTERS
  }
}

/** With `isLast` false, leaves out the last record, which may continue in the next slice. */
function parse(text: string, delimiter: Delimiter, isLast = true): Papa.ParseResult<string[]> {
  return new Papa.Parser({ delimiter, newline: '\n' }).parse(text, 0, !isLast)
}

function toRow(line: number, record: readonly string[], width: number): RawRow {
  if (record.length !== width) return { line, reason: `must have ${width} fields, got ${record.length}` }
  const last = record.length - 1
  return {
    line,
    fields: record.map((field, index) => withoutGuard(index === last ? withoutReturn(field) : field)),
  }
}

/** The carriage return of a Windows line end is part of the last field, unless the field is quoted. */
function withoutReturn(field: string): string {
  return field.endsWith('\r') ? field.slice(0, -1) : field
}

function countLineEnds(field: string): number {
  return field.includes('\n') ? field.split('\n').length - 1 : 0
}

/**
 * Spreadsheets run a cell that begins with one of these characters as a formula, unless an apostrophe precedes it. If
 * apostrophes already precede it, the text gets one more, so that removing one restores the text.
 */
const FORMULA = /^'*[=+\-@\t\r]/
const GUARDED_FORMULA = /^'+[=+\-@\t\r]/

/** Writes a line. `readRows` reads the same texts from it. */
export function csvLine(columns: readonly Column[], fields: readonly FieldText[]): string {
  const cells = columns.map(({ json }, index) => {
    const text = fields[index] ?? ''
    const guarded = json === 'string' && FORMULA.test(text) ? `'${text}` : text
    return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
  })
  return `${cells.join(',')}\n`
}

/** Removes the apostrophe that `csvLine` writes before a formula. */
function withoutGuard(text: string): string {
  return text.startsWith("'") && GUARDED_FORMULA.test(text) ? text.slice(1) : text
}
