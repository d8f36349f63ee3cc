import { type LimitState, readLimitState, readRetryAfter, untilReset } from './limit-state.ts'
import type { ClientSettings } from './options.ts'
import { type Failure, failedCall, failureOf, noAnswer, notSent } from './request-failure.ts'
import { type Passage, SendGate } from './send-gate.ts'
import { TimedSignal } from './timed-signal.ts'
import { backOff } from './waiting.ts'

export interface Call {
  readonly method: string
  /** Relative to the base address, with the query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Of a call that changes something: all its attempts have the same, so that it is made once at most. */
  readonly idempotencyKey?: string | undefined
  /** If the answer is lost, the request is not sent again. */
  readonly isSentOnce?: true | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly requestId: string | undefined
}

/** An answer whose body is read by whoever asked for it, until `close`. */
export interface OpenAnswer {
  readonly body: ReadableStream<Uint8Array>
  close(): void
}

interface Attempt {
  readonly response: Response
  readonly signal: TimedSignal
}

/** An attempt that failed: how long to wait before the next, where the gate does not see to it. */
type Setback = { readonly failure: Failure; readonly wait: number | 'at the gate' | 'final' }

const FIRST_BACK_OFF_MS = 300
const LONGEST_BACK_OFF_MS = 10_000
/** The service forgets an Idempotency-Key after 24 hours: later than this, a change might be made twice. */
const SAFE_TO_REPEAT_MS = 23 * 3_600_000

/** Statuses that say that it may work later. A 502 and a 504 are a proxy's words for a broken connection. */
const TEMPORARY: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** Sends calls through one gate, and again where that may help. */
export class Transport {
  readonly settings: ClientSettings
  readonly #gate: SendGate
  #tickets = 0
  #limits: LimitState | undefined

  constructor(settings: ClientSettings) {
    this.settings = settings
    this.#gate = new SendGate(settings)
  }

  get limits(): LimitState | undefined {
    return this.#limits
  }

  /** The whole answer of a success or a 304. Throws `PetstoreError` on any other, or the signal's reason. */
  send(call: Call): Promise<Answer> {
    return this.#attempts(call, async ({ response, signal }) => {
      try {
        const { status, headers } = response
        const requestId = headers.get('X-Request-Id') ?? undefined
        return { status, headers, requestId, text: await response.text() }
      } finally {
        signal.release()
      }
    })
  }

  /** Resolves as soon as the answer begins; from then on a broken connection shows in its body. */
  open(call: Call): Promise<OpenAnswer> {
    return this.#attempts(call, async ({ response: { body }, signal }) => {
      signal.stopTimer()
      if (body === null) throw new TypeError('the answer has no body')
      return { body, close: () => signal.end() }
    })
  }

  async #attempts<Result>(call: Call, read: (attempt: Attempt) => Promise<Result>): Promise<Result> {
    const { retry, time } = this.settings
    const { signal } = call
    const beganAt = time.clock()
    let last: Failure | undefined
    // When the first attempt was sent that may have been made, and of which none has told since.
    let unsettledSince: number | undefined
    const deadline = () => {
      const safeUntil =
        call.idempotencyKey === undefined || unsettledSince === undefined
          ? Number.POSITIVE_INFINITY
          : unsettledSince + SAFE_TO_REPEAT_MS
      return Math.min(beganAt + retry.deadlineMs, safeUntil)
    }
    const ticket = this.#tickets++
    const tooLate = (opensAt: number) => {
      const note = { opensInMs: opensAt - time.clock(), deadlineMs: deadline() - beganAt }
      return notSent(call, last, unsettledSince !== undefined, this.#limits, note)
    }
    for (let count = 1; ; count++) {
      const passage = await this.#gate.enter({ ticket, deadline: deadline(), signal, tooLate })
      const sentAt = time.clock()
      const outcome = await this.#attempt(call, passage, count, read)
      if ('result' in outcome) return outcome.result
      const { failure, wait } = outcome
      last = failure
      if (failure.outcome === 'unknown') unsettledSince ??= sentAt
      if (failure.outcome === 'decided') unsettledSince = undefined
      const pause = typeof wait === 'number' ? wait : 0
      const mayRepeat = call.isSentOnce !== true || failure.outcome !== 'unknown'
      if (wait === 'final' || !mayRepeat || count > retry.limit || time.clock() + pause > deadline()) {
        const seconds = ((time.clock() - beganAt) / 1000).toFixed(1)
        const note = count === 1 ? '' : `; this was attempt ${count}, ${seconds} s after the first`
        throw failedCall(call, failure, unsettledSince !== undefined, note)
      }
      if (pause > 0) await time.sleep(pause, signal)
    }
  }

  /** Sends it once. Throws when it is aborted, and nothing else. */
  async #attempt<Result>(
    call: Call,
    passage: Passage,
    count: number,
    read: (attempt: Attempt) => Promise<Result>,
  ): Promise<{ readonly result: Result } | Setback> {
    const { baseUrl, fetch, timeoutMs, authorization, time } = this.settings
    const { method, path, headers, body, idempotencyKey } = call
    const signal = new TimedSignal(call.signal, timeoutMs)
    const back = () => backOff(count - 1, time.random, FIRST_BACK_OFF_MS, LONGEST_BACK_OFF_MS)
    let response: Response
    try {
      response = await fetch(baseUrl + path, {
        method,
        headers: {
          ...{ Authorization: authorization, Accept: 'application/json', ...headers },
          ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body }),
        signal: signal.signal,
        // A stored answer would defeat the promise that a read sees every acknowledged update.
        cache: 'no-store',
        credentials: 'omit',
      })
    } catch (error) {
      passage.failed()
      signal.release()
      call.signal?.throwIfAborted()
      return { failure: noAnswer(call, error), wait: back() }
    }
    const isShut = this.#noteAnswer(call, response, passage, count, back)
    try {
      if (response.ok || response.status === 304) return { result: await read({ response, signal }) }
      const failure = failureOf(call, response, await response.text())
      signal.release()
      if (!TEMPORARY.has(response.status)) return { failure, wait: 'final' }
      return { failure, wait: isShut ? 'at the gate' : back() }
    } catch (error) {
      signal.release()
      call.signal?.throwIfAborted()
      return { failure: noAnswer(call, error), wait: back() }
    }
  }

  /** Takes what the headers say, before anything else can be sent. True where the gate is shut now. */
  #noteAnswer(
    { method, path }: Call,
    { status, headers }: Response,
    passage: Passage,
    attempt: number,
    back: () => number,
  ): boolean {
    const now = this.settings.time.clock()
    const limits = readLimitState(headers)
    if (limits !== undefined) this.#limits = limits
    const retryAfter = TEMPORARY.has(status) ? readRetryAfter(headers, now) : undefined
    const wait = retryAfter ?? (status === 429 ? back() : undefined)
    if (wait !== undefined) this.#gate.shut(now + wait)
    // A 401 tells of the caller's address, as may a failure: their headers are not about the key.
    const isOfKey = limits !== undefined && status < 500 && status !== 401
    passage.answered(isOfKey ? { ...limits, resetAt: now + untilReset(limits, headers, now) } : undefined)
    const requestId = headers.get('X-Request-Id') ?? undefined
    this.settings.onResponse?.({ method, path, status, requestId, limits, attempt })
    return wait !== undefined
  }
}
