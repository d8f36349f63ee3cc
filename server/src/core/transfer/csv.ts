import { closestName } from '../values/closest-name.ts'
import { quote } from '../values/field.ts'
import {
  type Column,
  type FieldText,
  MAX_LINE_LENGTH,
  type RawRow,
  type ReadLines,
  TOO_LONG,
} from './rows.ts'

/** Throws if the bytes are the start of a workbook (.xlsx or .xls) instead of text. */
export function rejectWorkbook(start: Uint8Array, file: string): void {
  const signature = Array.from(start.subarray(0, 4), (byte) => byte.toString(16).padStart(2, '0')).join('')
  if (signature !== '504b0304' && signature !== 'd0cf11e0') return
  throw new Error(`${file} is a spreadsheet workbook, not a CSV file; save it as CSV (in Excel: CSV UTF-8)`)
}

/** Whether a line comes before the header: it is blank, or names the delimiter for Excel (`sep=;`). */
export function isBeforeHeader(line: string): boolean {
  return /^[\s,;]*$/.test(line) || /^"?sep=.?"?\s*$/i.test(line)
}

/**
 * Spreadsheets run a cell that begins with one of these characters as a formula, unless an apostrophe precedes it. If
 * apostrophes already precede it, the text gets one more, so that removing one restores the text.
 */
const FORMULA = /^'*[=+\-@\t\r]/
const GUARDED_FORMULA = /^'+[=+\-@\t\r]/

/** Writes a line. `csvReader` reads the same texts from it. */
export function csvLine(columns: readonly Column[], fields: readonly FieldText[]): string {
  const cells = columns.map(({ json }, index) => {
    const text = fields[index] ?? ''
    const guarded = json === 'string' && FORMULA.test(text) ? `'${text}` : text
    return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
  })
  return `${cells.join(',')}\n`
}

/** Removes the apostrophe that `csvLine` writes before a formula. */
function withoutGuard(text: FieldText): FieldText {
  return text?.startsWith("'") && GUARDED_FORMULA.test(text) ? text.slice(1) : text
}

/** Spreadsheets write different delimiters in different countries. */
const DELIMITERS = [',', ';', '\t'] as const
type Delimiter = (typeof DELIMITERS)[number]

/** The fields of a record; `open` if a quoted field continues on the next line; or the reason why the record is invalid. */
type CsvRecord = readonly string[] | 'open' | { readonly reason: string }

const UNCLOSED_QUOTE = { reason: 'a quote (") opens a field and is not closed' }

/**
 * Reads CSV as in RFC 4180, and skips blank records. If a record of several lines is invalid, only its first line is refused,
 * so that a stray quote does not swallow the lines after it. A column that the file lacks has the index -1.
 */
export function csvReader(
  columnIndexes: readonly number[],
  delimiter: Delimiter,
  firstLine: number,
): ReadLines {
  const width = columnIndexes.filter((index) => index !== -1).length
  const toRow = (line: number, record: readonly string[]): RawRow =>
    record.length === width
      ? { line, fields: columnIndexes.map((index) => withoutGuard(record[index])) }
      : { line, reason: `must have ${width} fields, got ${record.length}` }
  let line = firstLine
  let openLines: string[] = []
  return (newLines, isEnd) => {
    const lines = openLines.length === 0 ? newLines : [...openLines, ...newLines]
    const rows: RawRow[] = []
    let start = 0
    while (start < lines.length) {
      const { record, lineCount } = recordAt(lines, start, delimiter, isEnd)
      if (record === 'open') break
      if ('reason' in record) rows.push({ line, reason: record.reason })
      else if (record.some((field) => field.trim() !== '')) rows.push(toRow(line, record))
      start += lineCount
      line += lineCount
    }
    openLines = lines.slice(start)
    return rows
  }
}

/** The record that starts at the line with index `start`. It is `open` only if lines that were not read yet may close it. */
function recordAt(
  lines: readonly string[],
  start: number,
  delimiter: Delimiter,
  isEnd: boolean,
): { readonly record: CsvRecord; readonly lineCount: number } {
  let text = lines[start] ?? ''
  if (text.length > MAX_LINE_LENGTH) return { record: { reason: TOO_LONG }, lineCount: 1 }
  let record = parseRecord(text, delimiter)
  let lineCount = 1
  while (record === 'open' && text.length <= MAX_LINE_LENGTH) {
    const next = lines[start + lineCount]
    if (next === undefined) {
      if (!isEnd) return { record, lineCount }
      break
    }
    text += `\n${next}`
    lineCount++
    record = parseRecord(text, delimiter)
  }
  if (record === 'open' || (lineCount > 1 && 'reason' in record))
    return { record: UNCLOSED_QUOTE, lineCount: 1 }
  return { record, lineCount }
}

/** `text` is one line, or several lines if a quoted field contains line ends. */
function parseRecord(text: string, delimiter: Delimiter): CsvRecord {
  const end = text.endsWith('\r') ? text.length - 1 : text.length
  if (!text.includes('"')) return text.slice(0, end).split(delimiter)

  const fields: string[] = []
  let start = 0
  for (;;) {
    let next: number
    if (text[start] === '"') {
      const close = findClosingQuote(text, start + 1)
      if (close === -1) return 'open'
      fields.push(text.slice(start + 1, close).replaceAll('""', '"'))
      next = close + 1
      if (next < end && text[next] !== delimiter) {
        return { reason: 'a quote (") inside a quoted field must be written twice ("")' }
      }
    } else {
      const found = text.indexOf(delimiter, start)
      next = found === -1 ? end : found
      const field = text.slice(start, next)
      if (field.includes('"')) return { reason: 'a field that contains a quote (") must be in quotes' }
      fields.push(field)
    }
    if (next >= end) return fields
    start = next + 1
  }
}

/** The index of the first quote at or after `start` that is not doubled, or -1. */
function findClosingQuote(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at
  }
  return -1
}

/** What the rows of a file are about. */
export interface FileKind {
  /** Names the content in messages, such as "a count". */
  readonly label: string
  readonly columns: readonly Column[]
}

const MAX_LISTED_PROBLEMS = 5

/** Reads the header of a CSV file. Returns undefined if the header names no known column. Throws if it has other problems. */
export function readHeader(text: string, file: string, kind: FileKind) {
  const { names, delimiter } = splitHeader(text)
  const knownNames = namesOf(kind.columns)
  if (names.every((name) => closestName(name, knownNames) === undefined)) return undefined
  const problems = headerProblems(names, kind)
  if (problems.length > 0) throw new Error(`the header of ${file} is wrong: ${joinProblems(problems)}`)
  const columnIndexes = kind.columns.map((column) => names.findIndex((name) => hasName(column, name)))
  return { delimiter, columnIndexes }
}

/** Uses the delimiter that yields the most names. */
function splitHeader(text: string): { readonly names: readonly string[]; readonly delimiter: Delimiter } {
  let best: { names: readonly string[]; delimiter: Delimiter } = { names: [], delimiter: ',' }
  for (const delimiter of DELIMITERS) {
    const record = parseRecord(text, delimiter)
    if (Array.isArray(record) && record.length > best.names.length) {
      best = { names: record.map((name) => name.trim()), delimiter }
    }
  }
  return best
}

function headerProblems(names: readonly string[], { columns, label }: FileKind): string[] {
  const problems: string[] = []
  const absentColumns = new Set(columns.filter((column) => !names.some((name) => hasName(column, name))))
  for (const [index, name] of names.entries()) {
    const column = columns.find((known) => hasName(known, name))
    if (name === '') {
      problems.push(`column ${index + 1} has no name; name it or remove it`)
    } else if (column === undefined) {
      const similar = closestName(name, namesOf([...absentColumns]))
      for (const absent of absentColumns) if (absent.name === similar) absentColumns.delete(absent)
      const advice = similar === undefined ? 'remove it' : `did you mean ${similar}?`
      problems.push(`${describeName(name)} is not a column of ${label}; ${advice}`)
    } else if (names.slice(0, index).some((earlier) => hasName(column, earlier))) {
      problems.push(`${column.name} appears twice; remove one of them`)
    }
  }
  const missing = missingRequiredColumns(names, [...absentColumns]).map((column) => column.name)
  if (missing.length === 1) problems.push(`${missing[0]} is missing; add it`)
  if (missing.length > 1) problems.push(`${missing.join(', ')} are missing; add them`)
  return problems
}

function missingRequiredColumns(names: readonly string[], columns: readonly Column[]): readonly Column[] {
  return columns.filter((column) => !column.isOptional && !names.some((name) => hasName(column, name)))
}

function hasName(column: Column, name: string): boolean {
  return column.name.toLowerCase() === name.toLowerCase()
}

function namesOf(columns: readonly Column[]): readonly string[] {
  return columns.map(({ name }) => name)
}

function describeName(name: string): string {
  return /^\w{1,40}$/.test(name) ? name : quote(name)
}

function joinProblems(problems: readonly string[]): string {
  const listed = problems.slice(0, MAX_LISTED_PROBLEMS)
  if (problems.length > listed.length) listed.push(`Further problems: ${problems.length - listed.length}`)
  return listed
    .map((problem, index) => (index === listed.length - 1 || problem.endsWith('?') ? problem : `${problem}.`))
    .join(' ')
}
