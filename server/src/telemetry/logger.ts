import { hideSecrets } from '../core/keys/api-key.ts'
import { type Clock, MINUTE, SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { Webhook } from '../core/webhooks/webhook.ts'
import type { DeliveryObserver } from '../core/webhooks/webhook-store.ts'
import type { FinishedRequest, RequestObserver } from '../http/request-context.ts'

export interface LogSettings {
  /** `auto` is text on a terminal and JSON elsewhere. */
  readonly logFormat: 'auto' | 'json' | 'text'
  readonly logRequests: 'all' | 'errors' | 'failures' | 'none'
}

/** Where log lines are written. */
export interface Sink {
  /** Resolves when the text was handed to the system, and rejects if it cannot be written. */
  write(text: string): Promise<void>
  readonly isTerminal: boolean
  readonly hasColours: boolean
}

interface LogEntry {
  readonly time: Date
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  /** Fields that are `undefined` are omitted. */
  readonly fields: Readonly<Record<string, string | number | undefined>>
  /** The error with its stack. */
  readonly error?: string
}

/** The failure of a request, or of background work that `requestId` names. */
export type Failure = Pick<FinishedRequest, 'requestId' | 'error'> & Partial<FinishedRequest>

/** Requests with a lower status are not logged, unless they are slow. */
const MIN_STATUS = { all: 0, errors: 400, failures: 500, none: 500 } as const
const SLOW_MS = { all: 1_000, errors: 1_000, failures: 1_000, none: Number.POSITIVE_INFINITY } as const
const MAX_PATH_LENGTH = 200
/** Anyone can send invalid requests, even without a key, so at most one is logged in this time. */
const INVALID_REQUEST_EVERY_MS = 10

/** How often the number of repeated failures is logged. A failure that did not repeat in this time is forgotten. */
const REPEATS_EVERY_MS = MINUTE
/** The number of different failures whose repeats are counted. Further failures are logged each time. */
const MAX_REPEATS = 100

/** If the reader of the log is stuck, lines beyond this number are dropped and counted, so that they do not fill the memory. */
const MAX_WAITING_LINES = 20_000
/** How long a stop waits until the last lines are written. */
const FLUSH_TIMEOUT_MS = 1_000

/** A failure that was logged in full once. Its repeats are counted. */
interface Repeat {
  readonly message: string
  loggedAt: number
  count: number
}

/** Writes log lines. They contain the ids of API keys, never the keys. */
export class Logger implements RequestObserver, DeliveryObserver {
  readonly #logRequests: LogSettings['logRequests']
  readonly #minStatus: number
  readonly #slowMs: number
  readonly #clock: Clock
  readonly #format: (entry: LogEntry) => string
  readonly #writer: LineWriter
  readonly #repeats = new Map<string, Repeat>()
  #repeatTimer: Timer | undefined
  #invalidRequestAt = 0

  constructor(settings: LogSettings, sink: Sink = stdoutSink(), clock: Clock = Date.now) {
    const { logFormat, logRequests } = settings
    const isText = logFormat === 'text' || (logFormat === 'auto' && sink.isTerminal)
    this.#logRequests = logRequests
    this.#minStatus = MIN_STATUS[logRequests]
    this.#slowMs = SLOW_MS[logRequests]
    this.#clock = clock
    this.#format = isText ? (entry) => textLine(entry, sink.hasColours) : jsonLine
    this.#writer = new LineWriter(sink, (dropped) =>
      this.#format(this.#entry('warn', 'log lines were dropped because nothing read them', { dropped })),
    )
  }

  /** Logs a request if the settings ask for it or the request was invalid. An internal failure is always logged. */
  requestFinished(request: FinishedRequest): void {
    const isSelected = request.status >= this.#minStatus || request.durationMs >= this.#slowMs
    if (request.problem !== undefined && (!isSelected || request.operationName === 'none')) {
      if (Math.abs(this.#clock() - this.#invalidRequestAt) < INVALID_REQUEST_EVERY_MS) return
      this.#invalidRequestAt = this.#clock()
    } else if (!isSelected) return
    if (request.error !== undefined) this.failure(request)
    else if (this.#logRequests !== 'none') {
      this.#add(this.#entry(levelOf(request), 'request', requestFields(request)))
    }
  }

  /** An unavailable database fails every request: the first failure is logged in full, then the number of repeats per minute. */
  failure(failure: Failure): void {
    const isUnavailable = failure.status === 503 || failure.error instanceof ServiceError
    if (isUnavailable && this.#isRepeat(failure.error)) return
    const entry = this.#entry('error', 'failure', requestFields(failure))
    this.#add({ ...entry, error: detailOf(failure.error) })
  }

  webhookTurnedOff({ id, url }: Webhook, reason: string): void {
    // The rest of the url may contain a secret of the receiver.
    this.warn('webhook turned off', { webhookId: String(id), host: URL.parse(url)?.host, reason })
  }

  warn(message: string, fields: LogEntry['fields'] = {}): void {
    this.#add(this.#entry('warn', message, fields))
  }

  info(message: string, fields: LogEntry['fields'] = {}): void {
    this.#add(this.#entry('info', message, fields))
  }

  /** Logs the counts of repeated failures, and resolves when all lines are written. */
  flush(): Promise<void> {
    for (const repeat of this.#repeats.values()) if (repeat.count > 0) this.#logCount(repeat)
    return this.#writer.flush()
  }

  #isRepeat(error: unknown): boolean {
    // Callers get the same message for every problem, so the cause identifies the problem.
    const message = messagesOf(error instanceof ServiceError ? (error.cause ?? error) : error)
    // Numbers such as free bytes and process ids differ each time.
    const id = message.replaceAll(/\d+/g, '0')
    const known = this.#repeats.get(id)
    if (known !== undefined) {
      known.count++
      return true
    }
    if (this.#repeats.size < MAX_REPEATS) {
      this.#repeats.set(id, { message, loggedAt: this.#clock(), count: 0 })
      this.#repeatTimer ??= setInterval(() => this.#logRepeats(), SECOND)
      this.#repeatTimer.unref()
    }
    return false
  }

  #logRepeats(): void {
    for (const [id, repeat] of this.#repeats) {
      const now = this.#clock()
      if (Math.abs(now - repeat.loggedAt) < REPEATS_EVERY_MS) continue
      if (repeat.count === 0) this.#forget(id)
      else this.#logCount(repeat)
      repeat.loggedAt = now
    }
  }

  #forget(id: string): void {
    this.#repeats.delete(id)
    if (this.#repeats.size > 0) return
    clearInterval(this.#repeatTimer)
    this.#repeatTimer = undefined
  }

  #logCount(repeat: Repeat): void {
    const { message, count } = repeat
    repeat.count = 0
    this.#add({ ...this.#entry('error', 'failure repeated', { times: count }), error: message })
  }

  #entry(level: LogEntry['level'], message: string, fields: LogEntry['fields']): LogEntry {
    return { time: new Date(this.#clock()), level, message, fields }
  }

  #add(entry: LogEntry): void {
    this.#writer.add(this.#format(entry))
  }
}

function requestFields(request: Partial<FinishedRequest>): LogEntry['fields'] {
  const { requestId, traceId, keyId, operationName, method, path, status, durationMs, problem } = request
  return {
    requestId,
    traceId,
    keyId,
    operation: operationName,
    method,
    path: path?.slice(0, MAX_PATH_LENGTH),
    status,
    durationMs: durationMs === undefined ? undefined : Math.round(durationMs * 1_000) / 1_000,
    clientAddress: request.clientAddress?.(),
    problem,
  }
}

function levelOf({ status, durationMs }: FinishedRequest): LogEntry['level'] {
  if (status >= 500) return 'error'
  return status >= 400 || durationMs >= SLOW_MS.all ? 'warn' : 'info'
}

/** The messages of an error and its causes, without stacks. */
function messagesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${messagesOf(error.cause)}`
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? `${error.name}: ${error.message}`
  return error.cause === undefined ? own : `${own}\ncaused by ${detailOf(error.cause)}`
}

/** Callers may send their key in a place that is logged, such as the path, so secrets are removed from the whole line. */
function jsonLine({ time, level, message, fields, error }: LogEntry): string {
  return hideSecrets(JSON.stringify({ time: time.toISOString(), level, message, ...fields, error }))
}

const COLOURS = { info: 32, warn: 33, error: 31 } as const
const GREY = 90

/** For people: the time of day, the event and its details in one line, followed by the stack of an error. */
function textLine({ time, level, message, fields, error }: LogEntry, hasColours: boolean): string {
  const paint = (code: number, text: string) => (hasColours ? `\u001b[${code}m${text}\u001b[0m` : text)
  const { method, path, status, durationMs, ...rest } = fields
  const event =
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
      event,
      details === '' ? '' : paint(GREY, printable(details)),
      ...stack,
    ].join(''),
  )
}

/** Escapes control characters, so that callers cannot send commands to the terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

/** Collects the lines of one turn of the event loop and writes them together, one write at a time. */
class LineWriter {
  readonly #sink: Sink
  readonly #describeDropped: (lines: number) => string
  #waiting: string[] = []
  #dropped = 0
  #writing: Promise<void> | undefined

  constructor(sink: Sink, describeDropped: (lines: number) => string) {
    this.#sink = sink
    this.#describeDropped = describeDropped
  }

  add(line: string): void {
    if (this.#waiting.length >= MAX_WAITING_LINES) {
      this.#dropped++
      return
    }
    this.#waiting.push(line)
    this.#writing ??= this.#writeAll()
  }

  /** Resolves when all lines are written, or after FLUSH_TIMEOUT_MS. */
  async flush(): Promise<void> {
    await Promise.race([this.#writing, Bun.sleep(FLUSH_TIMEOUT_MS)])
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise<void>((resolve) => void setImmediate(resolve))
      if (this.#dropped > 0) {
        this.#waiting.push(this.#describeDropped(this.#dropped))
        this.#dropped = 0
      }
      const text = `${this.#waiting.join('\n')}\n`
      this.#waiting = []
      // The service keeps running without a log, and there is nowhere to report the failure.
      await this.#sink.write(text).catch(() => {})
    }
    this.#writing = undefined
  }
}

function stdoutSink(): Sink {
  // Without a listener, a closed pipe would end the process.
  process.stdout.on('error', () => {})
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
      }),
    isTerminal: process.stdout.isTTY === true,
    hasColours: process.stdout.isTTY === true && Bun.enableANSIColors,
  }
}
