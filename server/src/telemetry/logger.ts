import { hideSecrets } from '../core/keys/api-key.ts'
import { type Clock, MINUTE, SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { DeliveryObserver } from '../core/webhooks/delivery-observer.ts'
import type { Webhook } from '../core/webhooks/webhook.ts'
import type { FinishedRequest, RequestObserver } from '../http/request-context.ts'
import { LineWriter, type Sink } from './line-writer.ts'

export interface LogSettings {
  /** `auto` is text on a terminal and JSON elsewhere. */
  readonly format: 'auto' | 'json' | 'text'
  readonly requests: 'all' | 'errors' | 'failures' | 'none'
}

/** One thing worth telling. A field that is `undefined` is left out. */
interface LogEntry {
  readonly time: Date
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, string | number | undefined>>
  /** What went wrong, with its stack. */
  readonly error?: string
}

/** A failure, of a request or of work that no request waits for. */
export type Failure = Pick<FinishedRequest, 'requestId' | 'error'> & Partial<FinishedRequest>

/** From this status on a request is looked at more closely. Below it, a request that is quick costs nothing. */
const MIN_STATUS = { all: 0, errors: 400, failures: 500, none: 500 } as const
const SLOW_MS = { all: 1_000, errors: 1_000, failures: 1_000, none: Number.POSITIVE_INFINITY } as const
const MAX_PATH_LENGTH = 200
/** What is no request may come without end and without a key: of a flood of it, a line in so long tells enough. */
const UNREADABLE_EVERY_MS = 10

/** How often the number of repeated failures is logged, and when one that has not come back is over. */
const REPEATS_EVERY_MS = MINUTE
/** Different failures that are counted at once; more are logged each time. */
const MAX_REPEATS = 100

/** A failure that was logged in full and is counted from then on. */
interface Repeat {
  readonly message: string
  loggedAt: number
  count: number
}

/** Says what happens, one line each. Keys are never told, only their ids. */
export class Logger implements RequestObserver, DeliveryObserver {
  readonly #settings: LogSettings
  readonly #minStatus: number
  readonly #slowMs: number
  readonly #clock: Clock
  readonly #format: (entry: LogEntry) => string
  readonly #writer: LineWriter
  readonly #repeats = new Map<string, Repeat>()
  #repeatTimer: Timer | undefined
  #unreadableAt = 0

  constructor(settings: LogSettings, sink: Sink, clock: Clock) {
    const { format, requests } = settings
    const asText = format === 'text' || (format === 'auto' && sink.isTerminal)
    this.#settings = settings
    this.#minStatus = MIN_STATUS[requests]
    this.#slowMs = SLOW_MS[requests]
    this.#clock = clock
    this.#format = asText ? (entry) => textLine(entry, sink.hasColours) : jsonLine
    this.#writer = new LineWriter(sink, (dropped) =>
      this.#format(this.#entry('warn', 'log lines were dropped, since nobody read them', { dropped })),
    )
  }

  /** Logs a request if the settings ask for it, or it could not be read; one that failed inside whatever they say. */
  requestFinished(request: FinishedRequest): void {
    const isAsked = request.status >= this.#minStatus || request.durationMs >= this.#slowMs
    if (request.problem !== undefined && (!isAsked || request.operation === 'none')) {
      if (Math.abs(this.#clock() - this.#unreadableAt) < UNREADABLE_EVERY_MS) return
      this.#unreadableAt = this.#clock()
    } else if (!isAsked) return
    if (request.error !== undefined) this.failure(request)
    else if (this.#settings.requests !== 'none') {
      this.#add(this.#entry(levelOf(request), 'request', requestFields(request)))
    }
  }

  /** A database in trouble fails every request: the first is logged in full, then their number once a minute. */
  failure(failure: Failure): void {
    const isUnavailable = failure.status === 503 || failure.error instanceof ServiceError
    if (isUnavailable && this.#isRepeat(failure.error)) return
    const entry = this.#entry('error', 'failure', requestFields(failure))
    this.#add({ ...entry, error: detailOf(failure.error) })
  }

  webhookTurnedOff({ id, url }: Webhook, reason: string): void {
    // The rest of the address may be a secret of the receiver's.
    this.warn('webhook turned off', { webhookId: String(id), host: URL.parse(url)?.host, reason })
  }

  warn(message: string, fields: LogEntry['fields'] = {}): void {
    this.#add(this.#entry('warn', message, fields))
  }

  info(message: string, fields: LogEntry['fields'] = {}): void {
    this.#add(this.#entry('info', message, fields))
  }

  /** Resolves when everything so far is written, with the failures that were only counted. */
  flush(): Promise<void> {
    for (const repeat of this.#repeats.values()) if (repeat.count > 0) this.#logCount(repeat)
    return this.#writer.flush()
  }

  #isRepeat(error: unknown): boolean {
    // Callers get the same message for every problem, so the cause identifies the problem.
    const message = messagesOf(error instanceof ServiceError ? (error.cause ?? error) : error)
    // Free bytes and process ids differ from one time to the next.
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
  const { requestId, traceId, keyId, operation, method, path, status, durationMs, problem } = request
  return {
    requestId,
    traceId,
    keyId,
    operation,
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

/** The message of an error and those of its causes, without stacks. */
function messagesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${messagesOf(error.cause)}`
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? `${error.name}: ${error.message}`
  return error.cause === undefined ? own : `${own}\ncaused by ${detailOf(error.cause)}`
}

/** A caller can put its key where we log it, such as into the path or the request id: the whole line is looked through. */
function jsonLine({ time, level, message, fields, error }: LogEntry): string {
  return hideSecrets(JSON.stringify({ time: time.toISOString(), level, message, ...fields, error }))
}

const COLOURS = { info: 32, warn: 33, error: 31 } as const
const GREY = 90

/** For people: the time of day, what happened, and details behind it. The stack of an error goes below. */
function textLine({ time, level, message, fields, error }: LogEntry, hasColours: boolean): string {
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
