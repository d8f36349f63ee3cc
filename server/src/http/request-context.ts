import { type HttpRequest, networkOf, type RequestHeaders, RequestProblem } from '@petstore/wire'
import type { ApiKey } from '../core/keys/api-key.ts'
import type { KeyRing } from '../core/keys/key-ring.ts'
import type { KeyWindows, LimitStatus } from '../core/limits/limit-store.ts'
import type { AddressWindows } from '../core/limits/rate-windows.ts'
import type { Requester } from '../core/stock/group-commit.ts'
import { ServiceError } from '../core/values/errors.ts'
import { childSpan, parseTraceparent, type TraceContext } from '../core/values/trace-context.ts'
import type { BodyTurns } from './body-turns.ts'
import type { CorsOrigins } from './cors.ts'
import { DEADLINE_MS, type Responder } from './deadlines.ts'
import type { Input, Operation, PathSegments, Services } from './operation.ts'
import type { PublicPageParts } from './public-pages.ts'
import { bugReply, errorReply, problemReply, type Reply } from './reply.ts'

export interface AppParts extends PublicPageParts {
  readonly access: AccessParts
  readonly services: Services
  /** When deprecated operations end. */
  readonly sunset: Date
  readonly trustedProxies: number
  /** Whether callers connect over TLS, to this process or to a proxy. If they do, every response has a Strict-Transport-Security header. */
  readonly isTls: boolean
  /** The origins whose pages may call the API; `undefined` turns CORS off. */
  readonly corsOrigins: CorsOrigins | undefined
  readonly observers: readonly RequestObserver[]
  readonly bodyTurns: BodyTurns
}

/** The parts that identify callers and count their requests. */
interface AccessParts {
  readonly keyRing: KeyRing
  /** Counts requests without a valid key. */
  readonly addresses: AddressWindows
  /** Counts the files of the pages and the contract, so that loading pages never keeps anybody from signing in. */
  readonly pageAddresses: AddressWindows
  /** Secrets of the demo keys, which do not have the format of other secrets. */
  readonly demoSecrets: ReadonlySet<string>
}

/** Why a request got 429: the limit of its key, a ban of its key, or the limit of an address that sent no valid key. */
export const LIMIT_REASONS = ['rate_limit_exceeded', 'key_banned', 'anonymous'] as const
export type LimitReason = (typeof LIMIT_REASONS)[number]

interface LimitRefusal {
  readonly reason: LimitReason
  /** This request triggered the ban. */
  readonly beginsBan: boolean
}

/** A request with its reply, for logs and metrics. No field contains the secret of the key. */
export interface FinishedRequest {
  readonly requestId: string
  /** The trace that the caller's `traceparent` header names. */
  readonly traceId: string | undefined
  /** The id of an operation, the name of a public page, `preflight`, or `none`. */
  readonly operationName: string
  readonly method: string
  /** Without the query, which may contain anything. */
  readonly path: string
  readonly status: number
  /** From the arrival of the request until its response is handed to the network. */
  readonly durationMs: number
  clientAddress(): string
  /** The public id of the key, never the secret. */
  readonly keyId: string | undefined
  readonly limitRefusal: LimitRefusal | undefined
  /** Whether the request tried to exchange a pairing code. */
  readonly isPairing: boolean
  /** Why the request could not be read. */
  readonly problem: string | undefined
  /** An internal failure, for the operator only. */
  readonly error: unknown
}

export interface RequestObserver {
  requestFinished(request: FinishedRequest): void
}

/** A request, or input that could not be parsed as a request: its method and path are `-`, and it has no headers. */
type ReceivedInput = Pick<HttpRequest, 'method' | 'path' | 'address'> & { readonly headers?: RequestHeaders }

const VALID_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The state of one request, from its arrival until its response. */
export class RequestContext implements FinishedRequest {
  readonly parts: AppParts
  readonly method: string
  readonly path: string
  readonly headers: RequestHeaders | undefined
  readonly requestId: string
  readonly #startedAt = performance.now()
  readonly #socketAddress: string
  operationName = 'none'
  /** Responses of public pages have no rate-limit or CORS headers. */
  isPublicPage = false
  /** Once this is set, the remaining steps are skipped. */
  reply: Reply | undefined
  /** The deprecation headers of the operation, which its error replies have as well. */
  deprecationLines = ''
  /** The caller's key; `undefined` until it is known to be valid. */
  key: ApiKey | undefined
  /** The limit that the rate-limit headers describe. */
  limitStatus: LimitStatus | undefined
  limitRefusal: LimitRefusal | undefined
  /** The windows of the key, if the operation is exempt from its limits. */
  keyWindows: KeyWindows | undefined
  isPairing = false
  /** The span of this request in the caller's trace. */
  trace: TraceContext | undefined
  problem: string | undefined
  error: unknown
  status = 0
  durationMs = 0

  constructor(parts: AppParts, { method, path, address, headers }: ReceivedInput) {
    this.parts = parts
    this.method = method
    this.path = path
    this.headers = headers
    this.#socketAddress = address
    const sentId = this.header('x-request-id')
    this.requestId = sentId !== null && VALID_REQUEST_ID.test(sentId) ? sentId : crypto.randomUUID()
  }

  get keyId(): string | undefined {
    return this.key?.id
  }

  get traceId(): string | undefined {
    return this.trace?.traceId
  }

  header(name: string): string | null {
    return this.headers?.get(name) ?? null
  }

  /** Computed on demand, because only log lines and requests without a valid key need it. */
  clientAddress(): string {
    return clientAddress(this.#socketAddress, this.header('x-forwarded-for'), this.parts.trustedProxies)
  }

  /** Replies with an error and records its cause. */
  fail(thrown: unknown): void {
    if (thrown instanceof ServiceError) {
      this.error = thrown.cause
      this.reply = errorReply(thrown)
    } else if (thrown instanceof RequestProblem) {
      this.problem = thrown.message
      this.reply = problemReply(thrown)
    } else {
      this.error = thrown
      this.reply = bugReply(this.requestId)
    }
  }

  /** Records the outcome and notifies the observers. */
  finish(status: number): void {
    this.status = status
    this.durationMs = performance.now() - this.#startedAt
    const traceparent = this.header('traceparent')
    const callerTrace = traceparent === null ? undefined : parseTraceparent(traceparent)
    if (callerTrace !== undefined) this.trace = childSpan(callerTrace)
    for (const observer of this.parts.observers) observer.requestFinished(this)
  }
}

/** The state of a request to an operation. Each step reads fields that earlier steps have set. */
export class OperationContext extends RequestContext implements Requester {
  readonly request: HttpRequest
  route: Route = { type: 'not_found' }
  /** The hash of the secret or pairing code that was sent, by which the key can be looked up again. */
  secretHash = ''
  params: Input['params'] = {}
  query: Input['query'] = {}
  body: Input['body']
  ifMatch: Input['ifMatch']
  idempotency: Input['idempotency']
  /** The result of the operation's `prepare`. */
  prepared: unknown
  /** In milliseconds of `performance.now()`. Infinite while the client sends the body. */
  deadline: number
  /** Whether the deadline has passed and the response is sent. Later steps are skipped. */
  hasExpired = false
  responder: Responder | undefined
  isBeingCommitted = false

  constructor(parts: AppParts, request: HttpRequest) {
    super(parts, request)
    this.request = request
    this.deadline = this.newDeadline()
  }

  newDeadline(): number {
    const hasNone = this.route.type === 'operation' && this.route.operation.hasNoDeadline === true
    return hasNone ? Number.POSITIVE_INFINITY : performance.now() + DEADLINE_MS
  }

  get hasLeft(): boolean {
    return this.hasExpired || this.request.hasClientLeft
  }

  /** For use after `requireOperation`, which replies if no operation matches. */
  get matched(): MatchedRoute {
    if (this.route.type !== 'operation') throw new Error('a step needs an operation, but none matches')
    return this.route
  }

  /** For steps after `identify`, which replies if the key is not valid. */
  get caller(): ApiKey {
    if (this.key === undefined) throw new Error('a step needs a key, but none is identified')
    return this.key
  }
}

/** The result of matching method and path. */
export type Route =
  | MatchedRoute
  | { readonly type: 'method_not_allowed'; readonly allowed: readonly string[] }
  | { readonly type: 'not_found' }

export interface MatchedRoute {
  readonly type: 'operation'
  readonly operation: Operation
  readonly segments: PathSegments
}

/** No valid address is longer. */
const MAX_ADDRESS_LENGTH = 64
/** Some proxies append the port: `[2001:db8::1]:443` or `192.0.2.1:443`. */
const BRACKETED_ADDRESS = /^\[([^\]]+)\](?::\d+)?$/
const ADDRESS_WITH_PORT = /^([^:]+):\d+$/

/**
 * The IPv4 address, or the /64 network of the IPv6 address, that a request without a valid key is counted against. Each of our
 * own proxies appends one entry to X-Forwarded-For, so behind N proxies only the last N entries are trusted, and the first of
 * these is the client.
 */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string | null,
  trustedProxies: number,
): string {
  const entries = trustedProxies > 0 ? (forwardedFor?.split(',') ?? []) : []
  const forwarded = entries[Math.max(0, entries.length - trustedProxies)]?.trim()
  return networkOf(withoutPort((forwarded || socketAddress).slice(0, MAX_ADDRESS_LENGTH)))
}

function withoutPort(text: string): string {
  return BRACKETED_ADDRESS.exec(text)?.[1] ?? ADDRESS_WITH_PORT.exec(text)?.[1] ?? text
}
