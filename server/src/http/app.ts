import type { Handler, HttpRequest, RequestHeaders, RequestProblem } from '@petstore/wire'
import { type Answer, headerLines } from '@petstore/wire'
import type { WindowStatus } from '../core/limits/rate-windows.ts'
import { SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { MaybePromise } from '../core/values/maybe-promise.ts'
import { clientAddress } from './client-address.ts'
import { deprecationHeaders, refuseAfterSunset } from './deprecation.ts'
import type { FinishedRequest, Limited } from './finished-request.ts'
import { type GateParts, type Passage, passGate, type Refusal, refuseMalformed, type Sender } from './gate.ts'
import type { Call, Operation, Services } from './operation.ts'
import { type PublicPage, type PublicPageParts, publicPages } from './public-pages.ts'
import { bugReply, errorReply, methodNotAllowedReply, type Reply } from './reply.ts'
import { type Match, matchRoute } from './routes.ts'

export interface AppParts extends PublicPageParts {
  readonly gate: GateParts
  readonly services: Services
  /** When deprecated operations end. */
  readonly sunset: Date
  readonly trustedProxies: number
  /** Told of every request once its answer stands, with what the caller must not see. */
  readonly observe: (request: FinishedRequest) => void
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

export function createApp(parts: AppParts): Handler {
  const pages = publicPages(parts)
  return {
    answer(request) {
      const { method, path, headers, address } = request
      const exchange = new Exchange(parts, method, path, headers, address)
      const page = pages.get(path)
      return page === undefined ? exchange.answer(request) : exchange.show(page, request)
    },
    refuse: (problem, address) => new Exchange(parts, '-', '-', undefined, address).refuse(problem),
  }
}

/** One request on its way through the service; then what is known of it. Closures for each step left more to collect. */
class Exchange implements FinishedRequest, Sender {
  readonly method: string
  readonly path: string
  readonly requestId: string
  operation = 'none'
  status = 0
  durationMs = 0
  error: unknown
  readonly #parts: AppParts
  readonly #headers: RequestHeaders | undefined
  readonly #address: string
  readonly #began = performance.now()
  #passage: Passage | undefined

  /** Without headers where it is no request. */
  constructor(
    parts: AppParts,
    method: string,
    path: string,
    headers: RequestHeaders | undefined,
    address: string,
  ) {
    this.#parts = parts
    this.method = method
    this.path = path
    this.requestId = requestIdOf(headers?.get('x-request-id') ?? null)
    this.#headers = headers
    this.#address = address
  }

  get keyId(): string | undefined {
    const passage = this.#passage
    return passage === undefined ? undefined : 'key' in passage ? passage.key.id : passage.keyId
  }

  get limited(): Limited | undefined {
    const passage = this.#passage
    return passage !== undefined && 'limited' in passage ? passage.limited : undefined
  }

  /** Looked up only where it is needed: for a request without a valid key, or a line in the log. */
  clientAddress(): string {
    const { trustedProxies } = this.#parts
    const forwardedFor = trustedProxies > 0 ? this.#headers?.get('x-forwarded-for') : null
    return clientAddress(this.#address, forwardedFor ?? null, trustedProxies)
  }

  show(page: PublicPage, request: HttpRequest): MaybePromise<Answer> {
    this.operation = page.name
    return this.#finishWhenMade(page.answer(request))
  }

  answer(request: HttpRequest): MaybePromise<Answer> {
    const match = matchRoute(this.method, this.path)
    if (match !== 'unknown_path' && 'operation' in match) this.operation = match.operation.operationId
    const passing = passGate(this.#parts.gate, request.headers, this)
    return passing instanceof Promise
      ? passing.then((passage) => this.#proceed(request, match, passage))
      : this.#proceed(request, match, passing)
  }

  refuse(problem: RequestProblem): Answer {
    const refusal = refuseMalformed(this.#parts.gate, problem.message, this)
    this.#passage = refusal
    return this.#finish(this.#refused(refusal))
  }

  #proceed(request: HttpRequest, match: Match, passage: Passage): MaybePromise<Answer> {
    this.#passage = passage
    let reply: MaybePromise<Reply>
    try {
      reply = this.#reply(request, match, passage)
    } catch (error) {
      reply = this.#failed(error)
    }
    return this.#finishWhenMade(reply)
  }

  #reply(request: HttpRequest, match: Match, passage: Passage): MaybePromise<Reply> {
    if ('refusal' in passage) return this.#refused(passage)
    if (match === 'unknown_path') {
      const { path } = this
      const shown = path.length > 80 ? `${path.slice(0, 80)}…` : path
      return errorReply({
        code: 'not_found',
        message: `there is nothing at ${shown}; /openapi.json lists what is offered`,
      })
    }
    if ('allowed' in match) return methodNotAllowedReply(this.method, match.allowed)

    const { operation, params } = match
    const { key, secretHash } = passage
    const call = { request, params, key, secretHash }
    return operation.deprecatedSince === undefined
      ? operation.run(call, this.#parts.services)
      : this.#replyOfDeprecated(operation, call)
  }

  async #replyOfDeprecated(operation: Operation, call: Call): Promise<Reply> {
    const { sunset, services } = this.#parts
    let reply: Reply
    try {
      refuseAfterSunset(operation, sunset, services.clock)
      reply = await operation.run(call, services)
    } catch (error) {
      reply = this.#failed(error)
    }
    return { ...reply, headers: { ...reply.headers, ...deprecationHeaders(operation, sunset) } }
  }

  #refused({ refusal, refusalHeaders }: Refusal): Reply {
    const reply = this.#failed(refusal)
    return { ...reply, headers: { ...reply.headers, ...refusalHeaders } }
  }

  #failed(thrown: unknown): Reply {
    if (thrown instanceof ServiceError) {
      this.error = thrown.cause
      return errorReply(thrown)
    }
    this.error = thrown
    return bugReply(this.requestId)
  }

  #finishWhenMade(reply: MaybePromise<Reply>): MaybePromise<Answer> {
    if (!(reply instanceof Promise)) return this.#finish(reply)
    return reply.then(
      (made) => this.#finish(made),
      (error) => this.#finish(this.#failed(error)),
    )
  }

  #finish({ status, headers, body }: Reply): Answer {
    this.status = status
    this.durationMs = performance.now() - this.#began
    this.#parts.observe(this)
    const standing = this.#passage === undefined ? '' : standingLines(this.#passage.standing)
    return {
      status,
      lines: `${headerLines(headers)}${standing}X-Request-Id: ${this.requestId}\r\nX-Content-Type-Options: nosniff\r\n`,
      body,
    }
  }
}

/** What every answer of the interface carries. */
function standingLines({ limit, remaining, resetAt }: WindowStatus): string {
  return `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${Math.ceil(resetAt / SECOND)}\r\n`
}

function requestIdOf(given: string | null): string {
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID()
}
