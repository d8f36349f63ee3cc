// How commands print results and progress, ask for confirmation, and react to Ctrl-C.
import { writeSync } from 'node:fs'
import { ServiceError } from '../core/values/errors.ts'
import type { ConfirmFlags, JsonFlags } from './arguments.ts'

type Cell = string | number

/** Pads each column to its widest cell. Aligns columns of numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = [head, ...rows.map((row) => row.map(String))]
  const pads = head.map((_, column) => {
    const width = Math.max(...cells.map((row) => Bun.stringWidth(row[column] ?? '')))
    const isNumeric = rows.length > 0 && rows.every((row) => typeof row[column] === 'number')
    return (cell: string) => {
      const padding = ' '.repeat(width - Bun.stringWidth(cell))
      return isNumeric ? padding + cell : cell + padding
    }
  })
  const lines = cells.map((row) => pads.map((pad, column) => pad(row[column] ?? '')).join('  '))
  return lines.map((line) => line.trimEnd()).join('\n')
}

interface ListFormat<Item> {
  readonly columns: readonly (readonly [title: string, cell: (item: Item) => Cell])[]
  readonly toJson: (item: Item) => unknown
  /** Printed instead of a table without rows. */
  readonly empty: string
}

/** Prints a table, or JSON if the flags ask for it. */
export function printList<Item>(
  items: readonly Item[],
  flags: JsonFlags,
  { columns, toJson, empty }: ListFormat<Item>,
): void {
  if (flags.json === true) printJson(items.map(toJson))
  else if (items.length === 0) console.log(empty)
  else {
    const titles = columns.map(([title]) => title)
    console.log(
      table(
        titles,
        items.map((item) => columns.map(([, cell]) => cell(item))),
      ),
    )
  }
}

/** Prints one fact per line, with its label. */
export function printFacts(facts: readonly (readonly [label: string, value: string])[]): void {
  console.log(table(['', ''], facts).trimStart())
}

/** Prints an int64 with all its digits. */
export function printJson(value: unknown): void {
  const toRaw = (_: string, field: unknown) =>
    typeof field === 'bigint' ? JSON.rawJSON(String(field)) : field
  console.log(JSON.stringify(value, toRaw, 2))
}

/** `2026-11-15 12:34` in UTC, or a dash. */
export function formatMinute(time: number | undefined): string {
  return time === undefined ? '-' : formatSecond(time).slice(0, 16)
}

/** `2026-11-15 12:34:56` in UTC. */
export function formatSecond(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ')
}

/** ISO 8601, for JSON. */
export function isoTime(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString()
}

/** The record with these times in ISO 8601. */
export function withIsoTimes<Field extends string, Item extends Partial<Record<Field, number>>>(
  item: Item,
  ...fields: readonly Field[]
) {
  const others = Object.entries(item).filter(([name]) => !fields.some((field) => field === name))
  return Object.fromEntries([...others, ...fields.map((field) => [field, isoTime(item[field])])])
}

export function grouped(value: number): string {
  return value.toLocaleString('en-US')
}

/** `1 line`, `1,000 lines` */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`
}

/** Includes the cause of a database failure, which clients of the service do not see. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isDatabaseFailure = error instanceof ServiceError && error.code === 'service_unavailable'
  return isDatabaseFailure && error.cause instanceof Error
    ? `the database cannot answer: ${error.cause.message}`
    : error.message
}

/**
 * Prints a new secret to standard output, alone, so that a script can read it, and then activates it. A secret that could not
 * be printed is never activated.
 */
export async function handOverSecret(
  noun: 'key' | 'secret',
  secret: string,
  activate: () => Promise<unknown>,
  message: string,
): Promise<void> {
  try {
    writeSync(process.stdout.fd, `${secret}\n`)
  } catch (error) {
    throw new Error(
      `the ${noun} cannot be written to standard output (${failureText(error)}); nothing was changed`,
    )
  }
  try {
    await activate()
  } catch (error) {
    throw new Error(`${failureText(error)}; the ${noun} that was printed does not work`, { cause: error })
  }
  console.error(`${message} Store the ${noun} now: it is not shown again.`)
}

export function requireConfirmation({ yes }: ConfirmFlags, question: string): void {
  if (yes !== true && !confirm(question)) throw new Error('nothing was changed')
}

/** Asks without blocking, so that Ctrl-C can still abort the signal. */
export async function confirmUnlessAborted(question: string, signal: AbortSignal): Promise<boolean> {
  const answer = Promise.withResolvers<string>()
  const abort = () => answer.reject(signal.reason)
  const receive = (text: Buffer) => answer.resolve(text.toString())
  const end = () => answer.resolve('')
  process.stderr.write(`${question} [y/N] `)
  signal.addEventListener('abort', abort)
  process.stdin.once('data', receive)
  process.stdin.once('end', end)
  try {
    return /^y(es)?$/i.test((await answer.promise).trim())
  } finally {
    signal.removeEventListener('abort', abort)
    process.stdin.off('data', receive)
    process.stdin.off('end', end)
    // A stream that is being read keeps the process alive.
    process.stdin.pause()
  }
}

/** The exit codes that shells expect of a program that a signal ended. */
const EXIT_CODES: Readonly<Partial<Record<NodeJS.Signals, number>>> = { SIGINT: 130, SIGTERM: 143 }

/**
 * Runs work that Ctrl-C and SIGTERM abort, and prints `effect` if they did. If the work finishes in spite of a signal, its
 * result counts.
 */
export async function interruptible(
  effect: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController()
  let received: NodeJS.Signals | undefined
  const stop = (signal: NodeJS.Signals) => {
    // A second signal ends the process at once. Uncommitted changes are lost either way.
    if (received !== undefined) process.exit(EXIT_CODES[signal])
    received = signal
    controller.abort()
  }
  for (const signal of Object.keys(EXIT_CODES)) process.on(signal, stop)
  try {
    await work(controller.signal)
  } catch (error) {
    if (received === undefined) throw error
    console.error(`petstore: stopped by ${received}; ${effect}`)
    process.exitCode = EXIT_CODES[received]
  } finally {
    for (const signal of Object.keys(EXIT_CODES)) process.off(signal, stop)
  }
}

interface ProgressOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const REDRAW_MS = 100
const PLAIN_LINE_MS = 3_000
const BAR_WIDTH = 24

/** Shows a progress bar on a terminal, and prints a line every few seconds elsewhere. Leaves standard output to results. */
export class Progress {
  readonly #output: ProgressOutput
  readonly #now: () => number
  #phase = ''
  #phaseStartedAt = 0
  #shownAt: number
  #hasBar = false

  constructor(output: ProgressOutput = process.stderr, now: () => number = () => performance.now()) {
    this.#output = output
    this.#now = now
    this.#shownAt = now()
  }

  /** Each phase has its own rate. `fraction` is from 0 to 1, or `undefined` if unknown. */
  show(phase: string, rows: number, fraction?: number): void {
    const now = this.#now()
    const isNewPhase = phase !== this.#phase
    if (isNewPhase) {
      this.#phase = phase
      this.#phaseStartedAt = now
    }
    const isTerminal = this.#output.isTTY === true
    if (now - this.#shownAt < (isTerminal ? REDRAW_MS : PLAIN_LINE_MS) && !(isNewPhase && isTerminal)) return
    this.#shownAt = now
    const text = progressText(rows, fraction, (now - this.#phaseStartedAt) / 1_000)
    if (!isTerminal) this.#output.write(`${phase}: ${text}\n`)
    else {
      const bar = fraction === undefined ? '' : `${drawBar(fraction)} `
      const line = `${phase.padEnd(9)} ${bar}${text}`.slice(0, (this.#output.columns || 80) - 1)
      this.#output.write(`\r\x1b[K${line}`)
      this.#hasBar = true
    }
  }

  /** Removes the bar. */
  end(): void {
    if (this.#hasBar) this.#output.write('\r\x1b[K')
    this.#hasBar = false
  }
}

function drawBar(fraction: number): string {
  const full = Math.round(Math.min(1, fraction) * BAR_WIDTH)
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full)
}

function progressText(rows: number, fraction: number | undefined, seconds: number): string {
  const parts = fraction === undefined ? [] : [`${Math.floor(fraction * 100)}%`]
  parts.push(`${grouped(rows)} rows`)
  if (seconds > 0 && rows > 0) parts.push(`${grouped(Math.round(rows / seconds))} rows/s`)
  if (fraction !== undefined && fraction > 0 && seconds > 0.5) {
    parts.push(`${duration((seconds * (1 - fraction)) / fraction)} left`)
  }
  return parts.join(', ')
}

/** `8 s`, `3 min 20 s`, `2 h 5 min` */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}
