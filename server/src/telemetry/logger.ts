import pino, { type Logger as PinoLogger } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { hideSecrets } from '../core/keys/api-key.ts'
import { type Clock, MINUTE, SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { Webhook } from '../core/webhooks/webhook.ts'
import type { DeliveryObserver } from '../core/webhooks/webhook-store.ts'
import type { FinishedRequest, RequestObserver } from '../http/request-context.ts'

export interface LogSettings {
  readonly logRequests: 'all' | 'errors' | 'failures' | 'none'
}

/** Where log lines are written. A terminal gets text, everything else JSON. */
export interface LogOutput {
  readonly stream: LogStream
  readonly isTerminal: boolean
}

/** The part of pino's destinations that the log uses. */
interface LogStream {
  write(line: string): unknown
  flush(onFlushed: () => void): unknown
  flushSync(): void
  on(event: 'drop' | 'drain', listener: () => void): unknown
}

/** Fields that are `undefined` are omitted. */
type Fields = Readonly<Record<string, string | number | undefined>>
type Level = 'info' | 'warn' | 'error'

/** Requests with a lower status are logged only if they are slow. `none` logs only internal failures and pairings. */
const MIN_STATUS = { all: 0, errors: 400, failures: 500, none: 500 } as const
const SLOW_MS = { all: 1_000, errors: 1_000, failures: 1_000, none: Number.POSITIVE_INFINITY } as const
const MAX_PATH_LENGTH = 200
/** Anyone can send unreadable requests, even without a key, so at most one of them is logged in this time. */
const UNREADABLE_LOG_INTERVAL_MS = 10

/** How often the number of repeats of a failure is logged. A failure without repeats in this time is forgotten. */
const REPEATS_LOG_INTERVAL_MS = MINUTE
/** The repeats of this many different failures are counted. Other failures are logged each time. */
const MAX_REPEATED_FAILURES = 100

/** If nothing reads the log, further lines are dropped and counted, so that they do not fill the memory. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
/** How long a stop waits for the last lines to be written. */
const FLUSH_TIMEOUT_MS = 1_000

/** A failure that was logged in full once, and the number of its repeats since `loggedAt`. */
interface RepeatedFailure {
  readonly message: string
  loggedAt: number
  count: number
}

/** Writes log lines. They contain the ids of API keys, never their secrets. */
export class Logger implements RequestObserver, DeliveryObserver {
  readonly #logRequests: LogSettings['logRequests']
  readonly #minStatus: number
  readonly #slowMs: number
  readonly #clock: Clock
  readonly #log: PinoLogger
  readonly #stream: LogStream
  readonly #repeats = new Map<string, RepeatedFailure>()
  #repeatTimer: Timer | undefined
  #unreadableLoggedAt = 0

  constructor(settings: LogSettings, output: LogOutput = standardOutput(), clock: Clock = Date.now) {
    const { logRequests } = settings
    this.#logRequests = logRequests
    this.#minStatus = MIN_STATUS[logRequests]
    this.#slowMs = SLOW_MS[logRequests]
    this.#clock = clock
    this.#stream = output.stream
    this.#log = createLog(output, clock)
    this.#countDroppedLines()
  }

  /**
   * Logs a request if `logRequests` selects it. Unless `logRequests` is `none`, unreadable requests are logged too.
   * Internal failures and attempts to pair a device are always logged, except attempts that a limit refused.
   */
  requestFinished(request: FinishedRequest): void {
    const { status, durationMs, operationName, problem, error } = request
    const isAdmittedPairing = request.isPairing && request.limitRefusal === undefined
    const isSelected = status >= this.#minStatus || durationMs >= this.#slowMs || isAdmittedPairing
    const isUnreadable = problem !== undefined
    if (!isSelected && !isUnreadable) return
    // An unreadable request with an operation had a valid key, so the limits of the key bound the number of its lines.
    const hasOperation = operationName !== 'none'
    const isThrottled = isUnreadable && !(isSelected && hasOperation)
    if (isThrottled && !this.#mayLogUnreadable()) return
    const fields = requestFields(request)
    if (error !== undefined) this.#logFailure(error, fields, { countsRepeats: status === 503 })
    else if (this.#logRequests !== 'none' || isAdmittedPairing) this.#add(levelOf(request), 'request', fields)
  }

  /** Logs a failure outside of requests. `source` names the background job or the part of the service that failed. */
  failure(source: string, error: unknown): void {
    this.#logFailure(error, { source }, { countsRepeats: error instanceof ServiceError })
  }

  webhookTurnedOff({ id, url }: Webhook, reason: string): void {
    // The rest of the url may contain a secret of the receiver.
    this.warn('webhook turned off', { webhookId: String(id), host: URL.parse(url)?.host, reason })
  }

  warn(message: string, fields: Fields = {}): void {
    this.#add('warn', message, fields)
  }

  info(message: string, fields: Fields = {}): void {
    this.#add('info', message, fields)
  }

  /** Logs the counts of repeated failures, and resolves when all lines are written, or after FLUSH_TIMEOUT_MS. */
  async flush(): Promise<void> {
    for (const repeat of this.#repeats.values()) if (repeat.count > 0) this.#logCount(repeat)
    let isFlushed = false
    const flushed = new Promise<void>((resolve) => this.#stream.flush(resolve)).then(() => {
      isFlushed = true
    })
    await Promise.race([flushed, Bun.sleep(FLUSH_TIMEOUT_MS)])
    // Otherwise the exit would wait for a reader that is stuck.
    if (!isFlushed) this.#stream.flushSync = () => {}
  }

  #countDroppedLines(): void {
    let dropped = 0
    this.#stream.on('drop', () => dropped++)
    this.#stream.on('drain', () => {
      if (dropped === 0) return
      const count = dropped
      dropped = 0
      this.warn('log lines were dropped because nothing read them', { dropped: count })
    })
  }

  #mayLogUnreadable(): boolean {
    const now = this.#clock()
    if (Math.abs(now - this.#unreadableLoggedAt) < UNREADABLE_LOG_INTERVAL_MS) return false
    this.#unreadableLoggedAt = now
    return true
  }

  /**
   * While the database is unavailable, every request fails. The first of these failures is logged in full, then only the
   * number of repeats once per minute.
   */
  #logFailure(error: unknown, fields: Fields, options: { countsRepeats: boolean }): void {
    if (options.countsRepeats && this.#countRepeat(error)) return
    this.#add('error', 'failure', { ...fields, error: stacksOf(error) })
  }

  /** Counts the failure if it was logged before. Returns false if it is new. */
  #countRepeat(error: unknown): boolean {
    // A ServiceError has the same message for different problems, so its cause identifies the problem.
    const message = messagesOf(error instanceof ServiceError ? (error.cause ?? error) : error)
    // Numbers in the message, such as free bytes and process ids, differ each time.
    const id = message.replaceAll(/\d+/g, '0')
    const known = this.#repeats.get(id)
    if (known !== undefined) {
      known.count++
      return true
    }
    if (this.#repeats.size < MAX_REPEATED_FAILURES) {
      this.#repeats.set(id, { message, loggedAt: this.#clock(), count: 0 })
      this.#repeatTimer ??= setInterval(() => this.#logRepeats(), SECOND)
      this.#repeatTimer.unref()
    }
    return false
  }

  #logRepeats(): void {
    for (const [id, repeat] of this.#repeats) {
      const now = this.#clock()
      if (Math.abs(now - repeat.loggedAt) < REPEATS_LOG_INTERVAL_MS) continue
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

  #logCount(repeat: RepeatedFailure): void {
    const { message, count } = repeat
    repeat.count = 0
    this.#add('error', 'failure repeated', { times: count, error: message })
  }

  #add(level: Level, message: string, fields: Fields): void {
    this.#log[level](fields, message)
  }
}

function createLog({ stream, isTerminal }: LogOutput, clock: Clock): PinoLogger {
  const toText = prettyFactory({
    colorize: Bun.enableANSIColors,
    messageKey: 'message',
    timestampKey: 'time',
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    errorLikeObjectKeys: ['error'],
    customPrettifiers: { error: (stacks) => escapeControls(String(stacks)).replaceAll('\n', '\n      ') },
  })
  return pino(
    {
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date(clock()).toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      // Callers may send their secret in a place that is logged, such as the path, so secrets are removed from the whole line.
      hooks: { streamWrite: (line) => hideSecrets(isTerminal ? toText(line) : line) },
    },
    stream,
  )
}

/** Escapes control characters but line breaks, so that callers cannot send commands to the terminal of the operator. */
function escapeControls(text: string): string {
  return text.replace(/(?!\n)\p{Cc}/gu, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

/** Writes in the background, so that a slow reader of the log does not block the event loop. What waits is written at the exit. */
export function standardOutput(fd = 1): LogOutput {
  // Without minLength, `flush` would not wait.
  const stream = pino.destination({ dest: fd, sync: false, minLength: 1, maxLength: MAX_WAITING_BYTES })
  // The service continues without a log, and a failure to log cannot be logged.
  stream.on('error', () => {})
  return { stream, isTerminal: process.stdout.isTTY === true }
}

function requestFields(request: FinishedRequest): Fields {
  const { requestId, traceId, keyId, operationName, method, path, status, durationMs, problem } = request
  return {
    requestId,
    traceId,
    keyId,
    operation: operationName,
    method,
    path: path.slice(0, MAX_PATH_LENGTH),
    status,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    clientAddress: request.clientAddress(),
    problem,
  }
}

function levelOf({ status, durationMs }: FinishedRequest): Level {
  if (status >= 500) return 'error'
  return status >= 400 || durationMs >= SLOW_MS.all ? 'warn' : 'info'
}

/** The messages of an error and its causes, without stacks. */
function messagesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${messagesOf(error.cause)}`
}

/** The stacks of an error and its causes. */
function stacksOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? `${error.name}: ${error.message}`
  return error.cause === undefined ? own : `${own}\ncaused by ${stacksOf(error.cause)}`
}
