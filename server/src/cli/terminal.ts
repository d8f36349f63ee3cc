// How commands print results, ask for confirmation, and react to Ctrl-C.
import { once } from 'node:events'
import { ServiceError } from '../core/values/errors.ts'
import type { ConfirmFlags } from './arguments.ts'

/** Pads each column to its widest cell. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, Bun.stringWidth(cell))
    }
  }
  const padded = (cell: string, column: number) =>
    cell + ' '.repeat((widths[column] ?? 0) - Bun.stringWidth(cell))
  return rows.map((row) => row.map(padded).join('  ').trimEnd()).join('\n')
}

/** `2026-11-15 12:34` in UTC, or a dash. */
export function formatMinute(time: number | undefined): string {
  return time === undefined ? '-' : new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

/** `1,000` */
export function formatNumber(value: number): string {
  return value.toLocaleString('en-US')
}

/** `1 line`, `1,000 lines` */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatNumber(count)} ${count === 1 ? noun : plural}`
}

/** Quotes an argument of a printed command if a shell would change it. */
export function quoteForShell(argument: string): string {
  return /^[\w./:-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`
}

/** Includes the cause of a database failure, which clients of the service do not see. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return isDatabaseFailure(error) && error.cause instanceof Error
    ? `the database cannot answer: ${error.cause.message}`
    : error.message
}

export function isDatabaseFailure(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'service_unavailable'
}

/** Throws unless `--yes` was given or the user confirms. Does not block the process, so that it still handles Ctrl-C. */
export async function requireConfirmation(
  { yes }: ConfirmFlags,
  question: string,
  signal?: AbortSignal,
): Promise<void> {
  if (yes === true) return
  process.stderr.write(`${question} [y/N] `)
  const answered = new AbortController()
  const options = { signal: AbortSignal.any([answered.signal, ...(signal === undefined ? [] : [signal])]) }
  try {
    const [text = ''] = await Promise.race([
      once(process.stdin, 'data', options),
      once(process.stdin, 'end', options),
    ])
    if (!/^y(es)?$/i.test(String(text).trim())) throw new Error('nothing was changed')
  } finally {
    answered.abort()
    // A stream that is being read keeps the process alive.
    process.stdin.pause()
  }
}

/** By convention, 128 plus the number of the signal that ended the program. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const
type InterruptSignal = keyof typeof EXIT_CODES
const INTERRUPT_SIGNALS = Object.keys(EXIT_CODES) as InterruptSignal[]

/** Work that ended because of a signal. The message says what it leaves behind. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly exitCode: number

  constructor(signal: InterruptSignal, effect: string) {
    super(`stopped by ${signal}; ${effect}`)
    this.exitCode = EXIT_CODES[signal]
  }
}

/** Work whose changes may or may not have been committed. The message says so, and what to do. */
export class UnknownOutcome extends Error {
  override readonly name = 'UnknownOutcome'
}

/**
 * Runs work that Ctrl-C and SIGTERM abort. If the work fails after such a signal, throws `Interrupted` with `abortEffect`
 * instead of the error, unless the outcome is unknown.
 */
export async function runInterruptible(
  abortEffect: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController()
  let receivedSignal: InterruptSignal | undefined
  const stop = (signal: InterruptSignal) => {
    // A second signal ends the process at once. Uncommitted changes are lost either way.
    if (receivedSignal !== undefined) process.exit(EXIT_CODES[signal])
    receivedSignal = signal
    controller.abort()
  }
  for (const signal of INTERRUPT_SIGNALS) process.on(signal, stop)
  try {
    await work(controller.signal)
  } catch (error) {
    if (receivedSignal === undefined || error instanceof UnknownOutcome) throw error
    throw new Interrupted(receivedSignal, abortEffect)
  } finally {
    for (const signal of INTERRUPT_SIGNALS) process.off(signal, stop)
  }
}

/** `8 s`, `3 min 20 s`, `2 h 5 min` */
export function formatDuration(seconds: number): string {
  const wholeSeconds = Math.ceil(seconds)
  if (wholeSeconds < 60) return `${wholeSeconds} s`
  if (wholeSeconds < 3_600) return `${Math.floor(wholeSeconds / 60)} min ${wholeSeconds % 60} s`
  return `${Math.floor(wholeSeconds / 3_600)} h ${Math.floor((wholeSeconds % 3_600) / 60)} min`
}
