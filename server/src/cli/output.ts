// How commands say things: to people, and to machines.
import { ServiceError } from '../core/values/errors.ts'

/** Columns as wide as their widest cell; numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [head, ...rows.map((row) => row.map(String))]
  const pads = head.map((_, column) => {
    const width = Math.max(...cells.map((row) => Bun.stringWidth(row[column] ?? '')))
    const isNumeric = rows.length > 0 && rows.every((row) => typeof row[column] === 'number')
    return (cell: string) => {
      const padding = ' '.repeat(width - Bun.stringWidth(cell))
      return isNumeric ? padding + cell : cell + padding
    }
  })
  return cells
    .map((row) =>
      pads
        .map((pad, column) => pad(row[column] ?? ''))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** For machines, an int64 with all its digits. */
export function json(value: unknown): string {
  const digits = (_: string, field: unknown) =>
    typeof field === 'bigint' ? JSON.rawJSON(String(field)) : field
  return JSON.stringify(value, digits, 2)
}

/** `2026-11-15 12:34` in UTC, or a dash. */
export function moment(time: number | undefined): string {
  return time === undefined ? '-' : new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

export function grouped(value: number): string {
  return value.toLocaleString('en-US')
}

/** `1 line`, `1,000 lines` */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`
}

/** What went wrong, for the operator: of a database in trouble also why, which callers of the service are not told. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isTrouble = error instanceof ServiceError && error.code === 'service_unavailable'
  return isTrouble && error.cause instanceof Error
    ? `the database cannot answer: ${error.cause.message}`
    : error.message
}
