import { ServiceError } from '../core/errors.ts'
import { attempt, type Eventually, whenHere } from '../core/eventually.ts'
import type { FinishedRequest } from '../core/finished-request.ts'
import { clientAddress } from './client-address.ts'
import { deprecationHeaders, refuseAfterSunset } from './deprecation.ts'
import { type GateParts, type Passage, passGate } from './gate.ts'
import type { Services } from './operation.ts'
import { type PublicPageParts, publicPages } from './public-pages.ts'
import { setCommon, setStanding } from './ready-headers.ts'
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
  /** Whether each answer asks its caller to send the next request on another connection. */
  readonly isClosing: () => boolean
}

/** The connection that a request came over. */
export interface Peer {
  address(): string
  /** Closes it once nothing has moved over it for so many seconds; with 0 it stays. */
  limitIdle(seconds: number): void
}

/** Answers one request; never throws. */
export type App = (request: Request, peer: Peer) => Eventually<Response>

/** One request on its way through the service. */
interface Exchange {
  readonly request: Request
  readonly requestId: string
  readonly path: string
  readonly began: number
  /** Looked up only where it is needed: for a request without a valid key, or a line in the log. */
  readonly address: () => string
  readonly peer: Peer
  /** What went wrong inside, for the operator alone. */
  error: unknown
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

export function createApp(parts: AppParts): App {
  const pages = publicPages(parts)

  return (request, peer) => {
    const exchange: Exchange = {
      request,
      requestId: requestIdOf(request),
      path: pathOf(request.url),
      began: performance.now(),
      address: () =>
        clientAddress(
          peer.address(),
          parts.trustedProxies > 0 ? request.headers.get('x-forwarded-for') : null,
          parts.trustedProxies,
        ),
      peer,
      error: undefined,
    }
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
    const passing = passGate(parts.gate, request.headers.get('authorization'), exchange.address)
    return whenHere(passing, (passage) =>
      attempt(
        () => answer(parts, exchange, match, passage),
        failed,
        (reply) => finish(parts, exchange, nameOf(match), reply, passage),
      ),
    )
  }
}

function answer(parts: AppParts, exchange: Exchange, match: Match, passage: Passage): Eventually<Reply> {
  if ('refusal' in passage) {
    const reply = failureReply(exchange, passage.refusal)
    return { ...reply, headers: { ...reply.headers, ...passage.refusalHeaders } }
  }
  if (match === 'unknown_path') {
    const { path } = exchange
    const shown = path.length > 80 ? `${path.slice(0, 80)}…` : path
    return errorReply({
      code: 'not_found',
      message: `there is nothing at ${shown}; /openapi.json lists what is offered`,
    })
  }
  if ('allowed' in match) return methodNotAllowedReply(exchange.request.method, match.allowed)

  const { operation, params } = match
  const { key, secretHash } = passage
  const { request, peer } = exchange
  const call = { request, params, key, secretHash, peer }
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
): Response {
  const { request, requestId, path, began, address, error } = exchange
  parts.observe({
    requestId,
    operation,
    method: request.method,
    path,
    status: reply.status,
    durationMs: performance.now() - began,
    clientAddress: address,
    keyId: passage === undefined ? undefined : 'key' in passage ? passage.key.id : passage.keyId,
    limited: passage !== undefined && 'limited' in passage ? passage.limited : undefined,
    error,
  })
  const response = respond(reply, passage, requestId)
  if (parts.isClosing()) response.headers.set('Connection', 'close')
  return response
}

function respond(reply: Reply, passage: Passage | undefined, requestId: string): Response {
  const { status, headers, readyHeaders, body } = reply
  if (passage !== undefined && readyHeaders !== undefined) {
    return new Response(body, { status, headers: readyHeaders.of(headers, passage.standing, requestId) })
  }
  const response = new Response(body, { status, headers })
  if (passage !== undefined) setStanding(response.headers, passage.standing)
  setCommon(response.headers, requestId)
  return response
}

function nameOf(match: Match): string {
  return match !== 'unknown_path' && 'operation' in match ? match.operation.operationId : 'none'
}

function requestIdOf({ headers }: Request): string {
  const given = headers.get('x-request-id')
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID()
}

/** Without a usable Host header, Bun gives the bare path instead of a whole address. */
function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  const query = url.indexOf('?', start)
  return query === -1 ? url.slice(start) : url.slice(start, query)
}
