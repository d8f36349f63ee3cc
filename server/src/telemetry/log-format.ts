import { hideSecrets } from '../core/keys/api-key.ts'

/** One thing worth telling. A field that is `undefined` is left out. */
export interface LogEntry {
  readonly time: Date
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, string | number | undefined>>
  /** What went wrong, with its stack. */
  readonly error?: string
}

/** A caller can put its key where we log it, such as into the path or the request id: the whole line is looked through. */
export function jsonLine({ time, level, message, fields, error }: LogEntry): string {
  return hideSecrets(JSON.stringify({ time: time.toISOString(), level, message, ...fields, error }))
}

const COLOURS = { info: 32, warn: 33, error: 31 } as const
const GREY = 90

/** For people: the time of day, what happened, and details behind it. The stack of an error goes below. */
export function textLine({ time, level, message, fields, error }: LogEntry, hasColours: boolean): string {
  const paint = (code: number, text: string) => (hasColours ? `\u001b[${code}m${text}\u001b[0m` : text)
  const { method, path, status, durationMs, ...rest } = fields
  const what =
    status === undefined
      ? printable(message)
      : `${printable(`${method} ${path}`)} ${paint(COLOURS[level], String(status))} ${durationMs} ms`
  const details = Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${value}`)
    .join('')
  const stack = error?.split('\n').map((line) => `\n    ${printable(line)}`) ?? []
  return hideSecrets(
    [
      paint(GREY, time.toTimeString().slice(0, 8)),
      ` ${paint(COLOURS[level], level.padEnd(5))} `,
      what,
      details === '' ? '' : paint(GREY, printable(details)),
      ...stack,
    ].join(''),
  )
}

/** What callers send must not steer the terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
