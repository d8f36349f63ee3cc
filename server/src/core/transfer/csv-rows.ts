import { MAX_LINE_LENGTH, type RawRow, type ReadLines, TOO_LONG } from './exchange-rows.ts'

/** Spreadsheets write what is usual in their country. */
export const DELIMITERS = [',', ';', '\t'] as const
export type Delimiter = (typeof DELIMITERS)[number]

/** The fields of one record, `open` where a quoted field goes on in the next line, or what is wrong. */
type CsvRecord = readonly string[] | 'open' | { readonly reason: string }

const UNCLOSED = { reason: 'a quote (") opens a field and is not closed' }

/**
 * Reads CSV (RFC 4180; lines may end in "\n" or "\r\n", and those with nothing but blank fields are passed over). A
 * record that cannot be read costs its first line alone, and reading goes on with the next: whatever a stray quote would
 * swallow is looked at again line by line, so that no line goes missing without being reported. `order` gives for each
 * column its index in the file, -1 where it has none.
 */
export function csvReader(order: readonly number[], delimiter: Delimiter, firstLine: number): ReadLines {
  const width = order.filter((index) => index !== -1).length
  const toRow = (line: number, record: readonly string[]): RawRow =>
    record.length === width
      ? { line, fields: order.map((index) => record[index]) }
      : { line, reason: `must have ${width} fields, got ${record.length}` }
  let line = firstLine
  /** Lines of a record that is still open. */
  let held: string[] = []
  return (more, isEnd) => {
    const lines = held.length === 0 ? more : [...held, ...more]
    const rows: RawRow[] = []
    let at = 0
    while (at < lines.length) {
      const { record, taken } = recordAt(lines, at, delimiter, isEnd)
      if (record === 'open') break
      if ('reason' in record) rows.push({ line, reason: record.reason })
      else if (record.some((field) => field.trim() !== '')) rows.push(toRow(line, record))
      at += taken
      line += taken
    }
    held = lines.slice(at)
    return rows
  }
}

/** `open` only while more lines may close it. */
function recordAt(
  lines: readonly string[],
  at: number,
  delimiter: Delimiter,
  isEnd: boolean,
): { readonly record: CsvRecord; readonly taken: number } {
  let text = lines[at] ?? ''
  if (text.length > MAX_LINE_LENGTH) return { record: { reason: TOO_LONG }, taken: 1 }
  let record = parseRecord(text, delimiter)
  let taken = 1
  while (record === 'open' && text.length <= MAX_LINE_LENGTH) {
    const next = lines[at + taken]
    if (next === undefined) {
      if (!isEnd) return { record, taken }
      break
    }
    text += `\n${next}`
    taken++
    record = parseRecord(text, delimiter)
  }
  if (record === 'open' || (taken > 1 && 'reason' in record)) return { record: UNCLOSED, taken: 1 }
  return { record, taken }
}

/** `text` is one line, or several where a quoted field goes over line ends. */
export function parseRecord(text: string, delimiter: Delimiter): CsvRecord {
  const end = text.endsWith('\r') ? text.length - 1 : text.length
  if (!text.includes('"')) return text.slice(0, end).split(delimiter)

  const fields: string[] = []
  let at = 0
  for (;;) {
    let next: number
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1)
      if (close === -1) return 'open'
      fields.push(text.slice(at + 1, close).replaceAll('""', '"'))
      next = close + 1
      if (next < end && text[next] !== delimiter) {
        return { reason: 'a quote (") inside a quoted field must be written twice ("")' }
      }
    } else {
      const found = text.indexOf(delimiter, at)
      next = found === -1 ? end : found
      const field = text.slice(at, next)
      if (field.includes('"')) return { reason: 'a field with a quote (") in it must stand in quotes' }
      fields.push(field)
    }
    if (next >= end) return fields
    at = next + 1
  }
}

/** Where the field that begins at `from` is closed: the first quote that is not one of two. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at
  }
  return -1
}
