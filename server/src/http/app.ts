import type { Answer, Handler, HttpRequest, RequestHeaders } from '@petstore/wire'
import { headerLines, RequestProblem } from '@petstore/wire'
import type { WindowStatus } from '../core/limits/limit-store.ts'
import { SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import { andThen, isPending, type MaybePromise } from '../core/values/maybe-promise.ts'
import { childOf, parseTraceparent, type TraceContext, traceText } from '../core/values/trace-context.ts'
import { clientAddress } from './client-address.ts'
import { type CorsOrigins, corsLines, isPreflight, preflightReply } from './cors.ts'
import type { FinishedRequest, Limited, RequestObserver } from './finished-request.ts'
import {
  type AdmittedWithoutKey,
  admit,
  admitByAddress,
  type GateParts,
  type GateResult,
  type Identity,
  identify,
  type Refused,
  refuseMalformed,
} from './gate.ts'
import { type Call, deprecationHeaders, type Match, type Operation, type Services } from './operation.ts'
import { type PublicPage, type PublicPageParts, publicPages } from './public-pages.ts'
import {
  bugReply,
  errorReply,
  methodNotAllowedReply,
  notFoundReply,
  problemReply,
  type Reply,
} from './reply.ts'
import { ROUTER } from './routes.ts'

export interface AppParts extends PublicPageParts {
  readonly gate: GateParts
  readonly services: Services
  /** When deprecated operations end. */
  readonly sunset: Date
  readonly trustedProxies: number
  /** Whether callers come over TLS, and had better never come without it. */
  readonly isTls: boolean
  /** Whose pages may call from other origins, where any may. */
  readonly corsOrigins: CorsOrigins | undefined
  readonly observers: readonly RequestObserver[]
}

const STRICT_TRANSPORT = 'Strict-Transport-Security: max-age=31536000\r\n'
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

export function createApp(parts: AppParts): Handler {
  const pages = publicPages(parts)
  return {
    answer(request) {
      const progress = new RequestInProgress(parts, request)
      const page = pages.get(request.path)
      if (page !== undefined) return progress.show(page, request)
      return parts.corsOrigins !== undefined && isPreflight(parts.corsOrigins, request)
        ? progress.answerPreflight()
        : progress.answer(request)
    },
    refuse: (problem, address) =>
      new RequestInProgress(parts, { method: '-', path: '-', address }).refuse(problem),
  }
}

/** What there is of a request; no headers where it is none. */
type Received = Pick<HttpRequest, 'method' | 'path' | 'address'> & { readonly headers?: RequestHeaders }

/** One request on its way through the service; then what is known of it. */
class RequestInProgress implements FinishedRequest {
  readonly method: string
  readonly path: string
  readonly requestId: string
  operation = 'none'
  status = 0
  durationMs = 0
  error: unknown
  problem: string | undefined
  /** Our step in the trace that the caller named. */
  #trace: TraceContext | undefined
  readonly #parts: AppParts
  readonly #headers: RequestHeaders | undefined
  readonly #address: string
  readonly #began = performance.now()
  #gateResult: GateResult | AdmittedWithoutKey | undefined

  constructor(parts: AppParts, { method, path, headers, address }: Received) {
    this.#parts = parts
    this.method = method
    this.path = path
    this.requestId = requestIdOf(headers?.get('x-request-id') ?? null)
    this.#headers = headers
    this.#address = address
  }

  get keyId(): string | undefined {
    const result = this.#gateResult
    return result === undefined ? undefined : 'key' in result ? result.key.id : result.keyId
  }

  get limited(): Limited | undefined {
    return this.#gateResult?.limited
  }

  get traceId(): string | undefined {
    return this.#trace?.traceId
  }

  /** Looked up only where it is needed: for a request without a valid key, or a line in the log. */
  clientAddress(): string {
    const { trustedProxies } = this.#parts
    const forwardedFor = trustedProxies > 0 ? this.#headers?.get('x-forwarded-for') : null
    return clientAddress(this.#address, forwardedFor ?? null, trustedProxies)
  }

  /** The way of a request: match the route, identify the key, admit it, run the operation, finish. */
  answer(request: HttpRequest): MaybePromise<Answer> {
    const { gate, trustedProxies } = this.#parts
    const { receivedAt, connection } = request
    // A proxy sends requests of several clients over one connection.
    const arrival = { receivedAt, connection: trustedProxies > 0 ? undefined : connection }
    const match = ROUTER.match(this.method, this.path)
    if ('operation' in match) this.operation = match.operation.operationId
    const reply = andThen(identify(gate, request.headers, this), (identity) => {
      const admission = admit(gate, identity, this, arrival)
      // Where the limits are counted elsewhere, the operation begins meanwhile: a read is then one round trip.
      const goOn = isPending(admission) ? this.#prepare(request, match, identity) : undefined
      return andThen(admission, (result) => this.#run(request, match, result, goOn))
    })
    return this.#finishWhenMade(reply)
  }

  /** A browser sends no key with it, so it is counted by its address. */
  answerPreflight(): Answer {
    this.operation = 'preflight'
    const result = admitByAddress(this.#parts.gate, this)
    this.#gateResult = result
    if ('error' in result) return this.#finish(this.#refused(result))
    const match = ROUTER.match(this.method, this.path)
    return this.#finish(preflightReply('allowed' in match ? match.allowed : undefined))
  }

  /** A page that needs no key. */
  show(page: PublicPage, request: HttpRequest): MaybePromise<Answer> {
    this.operation = page.name
    return this.#finishWhenMade(page.answer(request))
  }

  /** What is no request has no route either. */
  refuse(problem: RequestProblem): Answer {
    const refused = refuseMalformed(this.#parts.gate, problem, this)
    this.#gateResult = refused
    return this.#finish(this.#refused(refused))
  }

  #prepare(request: HttpRequest, match: Match, identity: Identity): (() => MaybePromise<Reply>) | undefined {
    if (!('operation' in match && 'key' in identity)) return undefined
    const { operation, params } = match
    // One that may have ended has to be asked about that first.
    if (operation.deprecatedSince !== undefined) return undefined
    const { key, secretHash } = identity
    return operation.prepare?.({ request, params, key, secretHash }, this.#parts.services)
  }

  #run(
    request: HttpRequest,
    match: Match,
    result: GateResult,
    goOn: (() => MaybePromise<Reply>) | undefined,
  ): MaybePromise<Reply> {
    this.#gateResult = result
    if ('error' in result) return this.#refused(result)
    if (!('operation' in match)) {
      const { allowed } = match
      return allowed === undefined ? notFoundReply(this.path) : methodNotAllowedReply(this.method, allowed)
    }
    const { operation, params } = match
    const { key, secretHash } = result
    const call = { request, params, key, secretHash }
    try {
      if (goOn !== undefined) return goOn()
      return operation.deprecatedSince === undefined
        ? operation.run(call, this.#parts.services)
        : this.#runDeprecated(operation, call)
    } catch (error) {
      return this.#failed(error)
    }
  }

  async #runDeprecated(operation: Operation, call: Call): Promise<Reply> {
    const { sunset, services } = this.#parts
    let reply: Reply
    try {
      if (services.clock() >= sunset.getTime()) throw ended(operation, sunset)
      reply = await operation.run(call, services)
    } catch (error) {
      reply = this.#failed(error)
    }
    const { status, body } = reply
    return { status, headers: { ...reply.headers, ...deprecationHeaders(operation, sunset) }, body }
  }

  #refused({ error, headers }: Refused): Reply {
    const reply = this.#failed(error)
    return { ...reply, headers: { ...reply.headers, ...headers } }
  }

  #failed(thrown: unknown): Reply {
    if (thrown instanceof ServiceError) {
      this.error = thrown.cause
      return errorReply(thrown)
    }
    if (thrown instanceof RequestProblem) {
      this.problem = thrown.message
      return problemReply(thrown)
    }
    this.error = thrown
    return bugReply(this.requestId)
  }

  #finishWhenMade(reply: MaybePromise<Reply>): MaybePromise<Answer> {
    return andThen(
      reply,
      (made) => this.#finish(made),
      (error) => this.#finish(this.#failed(error)),
    )
  }

  #finish({ status, headers, body, lines = headerLines(headers) }: Reply): Answer {
    this.status = status
    this.durationMs = performance.now() - this.#began
    const traceparent = this.#headers?.get('traceparent') ?? null
    const traceLine = traceparent === null ? '' : this.#joinTrace(traceparent)
    for (const observer of this.#parts.observers) observer.requestFinished(this)
    const limits = this.#gateResult === undefined ? '' : limitLines(this.#gateResult.windowStatus)
    const { isTls, corsOrigins } = this.#parts
    // Pages of ours are for themselves alone.
    const cors =
      corsOrigins === undefined || this.#gateResult === undefined
        ? ''
        : corsLines(corsOrigins, this.#headers?.get('origin') ?? null)
    return {
      status,
      lines: `${lines}${limits}X-Request-Id: ${this.requestId}\r\n${traceLine}${cors}X-Content-Type-Options: nosniff\r\n${isTls ? STRICT_TRANSPORT : ''}`,
      body,
      isToKnownClient: this.keyId !== undefined,
    }
  }

  /** Takes part in the caller's trace, if it names one, and tells our step in it. */
  #joinTrace(traceparent: string): string {
    const caller = parseTraceparent(traceparent)
    if (caller === undefined) return ''
    this.#trace = childOf(caller)
    return `traceresponse: ${traceText(this.#trace)}\r\n`
  }
}

function ended({ method, path }: Operation, sunset: Date): ServiceError {
  const day = sunset.toISOString().slice(0, 10)
  return new ServiceError(
    'gone',
    `${method} ${path} ended on ${day}; /openapi.json lists what is offered now`,
  )
}

/** What every answer of the interface carries. */
function limitLines({ limit, remaining, resetAt }: WindowStatus): string {
  return `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${Math.ceil(resetAt / SECOND)}\r\n`
}

function requestIdOf(given: string | null): string {
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID()
}
