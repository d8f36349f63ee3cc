import { type Failure, failedCall, failureOf, noResponse, notSent } from './failures.ts'
import { type LimitState, laterState, readLimitState, readRetryAfter } from './limit-state.ts'
import type { CallOptions, ClientSettings } from './options.ts'
import { SendQueue } from './send-queue.ts'
import { backOff, type Time } from './waiting.ts'

export interface Call {
  readonly method: string
  /** Relative to the base address, with the query. */
  readonly path: string
  /** Headers of the operation; they take precedence over those of the caller. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** All attempts of a change have the same key, so that it is made at most once; `undefined` for a read. */
  readonly idempotencyKey: string | undefined
  readonly options: CallOptions
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly attempts: number
}

/** A response whose body the caller reads until it calls `close`. */
export interface StreamedAnswer {
  readonly body: ReadableStream<Uint8Array>
  close(): void
}

interface Attempt {
  /** 1 for the first. */
  readonly number: number
  readonly response: Response
  readonly abort: () => void
}

type AttemptOutcome<Result> =
  | { readonly type: 'success'; readonly result: Result }
  /** Without `retryAfterMs`, the call must not be retried. The queue may delay the next attempt further. */
  | { readonly type: 'failure'; readonly failure: Failure; readonly retryAfterMs: number | undefined }

const FIRST_BACK_OFF_MS = 300
const LONGEST_BACK_OFF_MS = 10_000
/** The service forgets an Idempotency-Key after 24 hours. A change sent again after that could be made twice. */
const SAFE_TO_REPEAT_MS = 23 * 3_600_000

/** Statuses that may be different later. Proxies use 502 and 504 for a broken connection. */
const TEMPORARY: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** Stored responses would break the guarantee that a read sees every acknowledged change. Workers lack the option. */
const NO_CACHE: RequestInit = 'cache' in Request.prototype ? { cache: 'no-store' } : {}

/** Sends calls through one queue, and retries them. */
export class Transport {
  readonly settings: ClientSettings
  readonly time: Time
  readonly #queue: SendQueue
  #limits: LimitState | undefined

  constructor(settings: ClientSettings, time: Time) {
    this.settings = settings
    this.time = time
    this.#queue = new SendQueue(time, settings.concurrency)
  }

  get limits(): LimitState | undefined {
    return this.#limits
  }

  /** The complete response of a 2xx. Throws `PetstoreError` for any other, or the signal's reason. */
  send(call: Call): Promise<Answer> {
    return this.#run(call, async ({ number, response }) => {
      const { status, headers } = response
      return { status, headers, text: await response.text(), attempts: number }
    })
  }

  /** Resolves when the response begins. If the connection breaks later, reading the body fails. */
  open(call: Call): Promise<StreamedAnswer> {
    return this.#run(call, async ({ response: { body }, abort }) => {
      if (body === null) throw new TypeError('the response has no body')
      return { body, close: abort }
    })
  }

  async #run<Result>(call: Call, read: (attempt: Attempt) => Promise<Result>): Promise<Result> {
    const { time } = this
    const {
      signal,
      totalTimeout = this.settings.totalTimeout,
      retries = this.settings.retries,
    } = call.options
    const beganAt = time.clock()
    let lastFailure: Failure | undefined
    // When the first attempt was sent that may have made the change; undefined if no attempt can have made it.
    let unsettledSince: number | undefined
    let attempts = 0
    const deadline = () => {
      const end = beganAt + totalTimeout
      if (call.idempotencyKey === undefined || unsettledSince === undefined) return end
      return Math.min(end, unsettledSince + SAFE_TO_REPEAT_MS)
    }
    const progress = () => ({
      attempts,
      elapsedMs: time.clock() - beganAt,
      isUnsettled: unsettledSince !== undefined,
    })
    const tooLate = (opensAt: number) => {
      if (lastFailure !== undefined) return failedCall(call, lastFailure, progress())
      const waitMs = opensAt - time.clock()
      return notSent(call, waitMs, deadline() - beganAt, this.#limits)
    }
    for (;;) {
      await this.#queue.enter({ deadline: deadline(), signal, tooLate })
      attempts++
      const sentAt = time.clock()
      const outcome = await this.#attempt(call, attempts, read)
      if (outcome.type === 'success') return outcome.result
      const { failure, retryAfterMs } = outcome
      lastFailure = failure
      if (failure.outcome === 'unknown') unsettledSince ??= sentAt
      if (failure.outcome === 'decided') unsettledSince = undefined
      const mayRetry = retryAfterMs !== undefined && attempts <= retries
      if (!mayRetry || time.clock() + retryAfterMs > deadline()) throw failedCall(call, failure, progress())
      if (retryAfterMs > 0) await time.sleep(retryAfterMs, signal)
    }
  }

  /** Sends the call once. Throws only if the call is aborted or a hook throws. */
  async #attempt<Result>(
    call: Call,
    number: number,
    read: (attempt: Attempt) => Promise<Result>,
  ): Promise<AttemptOutcome<Result>> {
    const { baseUrl, fetch, onResponse } = this.settings
    const { method, path, body, options } = call
    const { signal, timeout = this.settings.timeout } = options
    const sentAt = this.time.clock()
    const delay = backOff(number - 1, this.time.random, FIRST_BACK_OFF_MS, LONGEST_BACK_OFF_MS)
    const broken = (error: unknown): AttemptOutcome<Result> => {
      signal?.throwIfAborted()
      return { type: 'failure', failure: noResponse(call, baseUrl, error), retryAfterMs: delay }
    }
    const headers = this.#headersOf(call, number)
    const own = new AbortController()
    const tooSlow = () => own.abort(new DOMException(`no response within ${timeout} ms`, 'TimeoutError'))
    const timer = Number.isFinite(timeout) ? setTimeout(tooSlow, timeout) : undefined
    const eitherSignal = signal === undefined ? own.signal : AbortSignal.any([signal, own.signal])
    try {
      let response: Response
      try {
        const content = body === undefined ? {} : { body }
        const init = { method, headers, signal: eitherSignal, ...content, ...NO_CACHE }
        response = await fetch(baseUrl + path, init)
      } catch (error) {
        this.#queue.leave()
        return broken(error)
      }
      const isClosed = this.#readLimits(response, delay)
      const { status } = response
      onResponse?.({
        method,
        path,
        status,
        headers: response.headers,
        requestId: response.headers.get('X-Request-Id') ?? undefined,
        limits: readLimitState(response.headers),
        attempt: number,
        duration: this.time.clock() - sentAt,
      })
      try {
        if (response.ok) {
          const result = await read({ number, response, abort: () => own.abort() })
          return { type: 'success', result }
        }
        const failure = failureOf(call, response, await response.text())
        const retryDelay = isClosed ? 0 : delay
        return { type: 'failure', failure, retryAfterMs: TEMPORARY.has(status) ? retryDelay : undefined }
      } catch (error) {
        return broken(error)
      }
    } finally {
      clearTimeout(timer)
    }
  }

  /** Leaves the queue and throws if a header is invalid or the hook throws. */
  #headersOf(call: Call, attempt: number): Headers {
    const { settings } = this
    const { method, path, idempotencyKey, options } = call
    try {
      const headers = new Headers({ Accept: 'application/json' })
      const parts = [settings.headers, options.headers ?? {}, call.headers]
      for (const [name, value] of parts.flatMap(Object.entries<string>)) headers.set(name, value)
      headers.set('Authorization', settings.authorization)
      if (idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey)
      settings.onRequest?.({ method, path, headers, idempotencyKey, attempt })
      return headers
    } catch (error) {
      this.#queue.leave()
      throw error
    }
  }

  /** Applies the rate-limit headers before another request can be sent. True if the queue is closed now. */
  #readLimits({ status, headers }: Response, delay: number): boolean {
    const now = this.time.clock()
    const limits = readLimitState(headers)
    if (limits !== undefined) this.#limits = laterState(this.#limits, limits)
    const retryAfter = TEMPORARY.has(status) ? readRetryAfter(headers, now) : undefined
    const wait = retryAfter ?? (status === 429 ? delay : undefined)
    if (wait !== undefined) this.#queue.close(now + wait)
    // The headers of a 401, and possibly of a 5xx, are about the client's address and not about the key.
    if (limits !== undefined && status < 500 && status !== 401) this.#queue.obey(limits.limit)
    this.#queue.leave()
    return wait !== undefined
  }
}
