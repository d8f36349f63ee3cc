import { SECOND } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { attempt, type Eventually, whenHere } from '../core/eventually.ts'
import type { FinishedRequest } from '../core/finished-request.ts'
import type { Standing } from '../core/rate-windows.ts'
import { type Answer, headerLines } from '../wire/answer.ts'
import type { Handler } from '../wire/connection.ts'
import type { HttpRequest } from '../wire/http-request.ts'
import { clientAddress } from './client-address.ts'
import { deprecationHeaders, refuseAfterSunset } from './deprecation.ts'
import { type GateParts, type Passage, passGate, type Refusal, refuseMalformed } from './gate.ts'
import type { Services } from './operation.ts'
import { type PublicPageParts, publicPages } from './public-pages.ts'
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

/** One request on its way through the service. */
interface Exchange {
  readonly method: string
  readonly path: string
  readonly requestId: string
  readonly began: number
  /** Looked up only where it is needed: for a request without a valid key, or a line in the log. */
  readonly address: () => string
  /** What went wrong inside, for the operator alone. */
  error: unknown
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

export function createApp(parts: AppParts): Handler {
  const pages = publicPages(parts)

  return {
    answer(request) {
      const exchange = begin(parts, request)
      const failed = (error: unknown) => failureReply(exchange, error)
      const page = pages.get(exchange.path)
      if (page !== undefined) {
        return attempt(
          () => page.answer(request),
          failed,
          (reply) => finish(parts, exchange, page.name, reply, undefined),
        )
      }
      const match = matchRoute(request.method, exchange.path)
      const passing = passGate(parts.gate, request.headers, exchange.address)
      return whenHere(passing, (passage) =>
        attempt(
          () => answer(parts, request, exchange, match, passage),
          failed,
          (reply) => finish(parts, exchange, nameOf(match), reply, passage),
        ),
      )
    },
    refuse(problem, address) {
      const exchange = {
        method: '-',
        path: '-',
        requestId: crypto.randomUUID(),
        began: performance.now(),
        address: () => clientAddress(address, null, 0),
        error: undefined,
      }
      const passage = refuseMalformed(parts.gate, problem.message, exchange.address)
      return finish(parts, exchange, 'none', refusedReply(exchange, passage), passage)
    },
  }
}

function begin({ trustedProxies }: AppParts, request: HttpRequest): Exchange {
  const { method, path, headers } = request
  return {
    method,
    path,
    requestId: requestIdOf(headers.get('x-request-id')),
    began: performance.now(),
    address: () =>
      clientAddress(
        request.address,
        trustedProxies > 0 ? headers.get('x-forwarded-for') : null,
        trustedProxies,
      ),
    error: undefined,
  }
}

function answer(
  parts: AppParts,
  request: HttpRequest,
  exchange: Exchange,
  match: Match,
  passage: Passage,
): Eventually<Reply> {
  if ('refusal' in passage) return refusedReply(exchange, passage)
  if (match === 'unknown_path') {
    const { path } = exchange
    const shown = path.length > 80 ? `${path.slice(0, 80)}…` : path
    return errorReply({
      code: 'not_found',
      message: `there is nothing at ${shown}; /openapi.json lists what is offered`,
    })
  }
  if ('allowed' in match) return methodNotAllowedReply(request.method, match.allowed)

  const { operation, params } = match
  const { key, secretHash } = passage
  const call = { request, params, key, secretHash }
  if (operation.deprecatedSince === undefined) return operation.run(call, parts.services)
  return attempt(
    () => {
      refuseAfterSunset(operation, parts.sunset, parts.services.clock)
      return operation.run(call, parts.services)
    },
    (error) => failureReply(exchange, error),
    ({ status, headers, body }) => ({
      status,
      headers: { ...headers, ...deprecationHeaders(operation, parts.sunset) },
      body,
    }),
  )
}

function refusedReply(exchange: Exchange, { refusal, refusalHeaders }: Refusal): Reply {
  const reply = failureReply(exchange, refusal)
  return { ...reply, headers: { ...reply.headers, ...refusalHeaders } }
}

function failureReply(exchange: Exchange, thrown: unknown): Reply {
  if (thrown instanceof ServiceError) {
    exchange.error = thrown.cause
    return errorReply(thrown)
  }
  exchange.error = thrown
  return bugReply(exchange.requestId)
}

function finish(
  parts: AppParts,
  exchange: Exchange,
  operation: string,
  reply: Reply,
  passage: Passage | undefined,
): Answer {
  const { method, requestId, path, began, address, error } = exchange
  parts.observe({
    requestId,
    operation,
    method,
    path,
    status: reply.status,
    durationMs: performance.now() - began,
    clientAddress: address,
    keyId: passage === undefined ? undefined : 'key' in passage ? passage.key.id : passage.keyId,
    limited: passage !== undefined && 'limited' in passage ? passage.limited : undefined,
    error,
  })
  const standing = passage === undefined ? '' : standingLines(passage.standing)
  return {
    status: reply.status,
    lines: `${headerLines(reply.headers)}${standing}X-Request-Id: ${requestId}\r\nX-Content-Type-Options: nosniff\r\n`,
    body: reply.body,
  }
}

/** What every answer of the interface carries. */
function standingLines({ limit, remaining, resetAt }: Standing): string {
  return `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${Math.ceil(resetAt / SECOND)}\r\n`
}

function nameOf(match: Match): string {
  return match !== 'unknown_path' && 'operation' in match ? match.operation.operationId : 'none'
}

function requestIdOf(given: string | null): string {
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID()
}
