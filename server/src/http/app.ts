import { ServiceError } from '../core/errors.ts'
import { clientAddress } from './client-address.ts'
import { conditional } from './conditional.ts'
import { deprecationHeaders, refuseAfterSunset } from './deprecation.ts'
import { type GateParts, type Passage, passGate } from './gate.ts'
import type { Operation, Services } from './operation.ts'
import { bugReply, errorReply, jsonReply, type Reply } from './reply.ts'
import { type Match, matchRoute } from './routes.ts'

export interface AppParts {
  readonly gate: GateParts
  readonly services: Services
  readonly contract: unknown
  /** When deprecated operations end. */
  readonly sunset: Date
  readonly trustedProxies: number
  /** Told of every failure whose details the caller must not see. */
  readonly reportFailure: (failure: { requestId: string; error: unknown }) => void
}

/** Answers one request; never throws. */
export type App = (request: Request, socketAddress: string) => Promise<Response>

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

export function createApp(parts: AppParts): App {
  const publicPages = new Map([['/openapi.json', jsonReply(parts.contract)]])

  return async (request, socketAddress) => {
    const given = request.headers.get('x-request-id')
    const requestId = given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID()
    const path = pathOf(request.url)

    const page = publicPages.get(path)
    if (page !== undefined) return respond(publicReply(page, request), { 'X-Request-Id': requestId })

    const failed = (error: unknown): Reply => {
      if (error instanceof ServiceError) {
        if (error.cause !== undefined) parts.reportFailure({ requestId, error: error.cause })
        return errorReply(error)
      }
      parts.reportFailure({ requestId, error })
      return bugReply(requestId)
    }

    const address = clientAddress(socketAddress, request.headers.get('x-forwarded-for'), parts.trustedProxies)
    const passage = await passGate(parts.gate, request.headers.get('authorization'), address)
    const reply = await answer(parts, request, path, passage, failed)
    return respond(reply, { ...passage.limitHeaders, 'X-Request-Id': requestId })
  }
}

async function answer(
  parts: AppParts,
  request: Request,
  path: string,
  passage: Passage,
  failed: (error: unknown) => Reply,
): Promise<Reply> {
  if ('refusal' in passage) {
    const reply = failed(passage.refusal)
    return { ...reply, headers: { ...reply.headers, ...passage.refusalHeaders } }
  }
  const match = matchRoute(request.method, path)
  if (match === 'unknown_path' || 'allowed' in match) return unmatched(match, request.method, path)

  const { operation, params } = match
  const reply = await run(parts, operation, { request, params, key: passage.key }).catch(failed)
  return { ...reply, headers: { ...reply.headers, ...deprecationHeaders(operation, parts.sunset) } }
}

async function run(
  parts: AppParts,
  operation: Operation,
  call: Parameters<Operation['run']>[0],
): Promise<Reply> {
  refuseAfterSunset(operation, parts.sunset, parts.services.clock())
  const reply = jsonReply(await operation.run(call, parts.services))
  return operation.method === 'GET' ? conditional(reply, call.request.headers.get('if-none-match')) : reply
}

function unmatched(match: Exclude<Match, { operation: Operation }>, method: string, path: string): Reply {
  if (match === 'unknown_path') {
    const shown = path.length > 80 ? `${path.slice(0, 80)}…` : path
    return errorReply(
      new ServiceError('not_found', `there is nothing at ${shown}; /openapi.json lists what is offered`),
    )
  }
  return methodNotAllowed(method, match.allowed)
}

function publicReply(page: Reply, request: Request): Reply {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return methodNotAllowed(request.method, ['GET', 'HEAD'])
  }
  return conditional(page, request.headers.get('if-none-match'))
}

function methodNotAllowed(method: string, allowed: readonly string[]): Reply {
  const offered = allowed.join(', ')
  return errorReply(
    new ServiceError('method_not_allowed', `${method} is not offered here; this path offers ${offered}`),
    { Allow: offered },
  )
}

function respond(reply: Reply, headers: Readonly<Record<string, string>>): Response {
  return new Response(reply.body, { status: reply.status, headers: { ...reply.headers, ...headers } })
}

/** Without a usable Host header, Bun gives the bare path instead of a whole address. */
function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  const query = url.indexOf('?', start)
  return query === -1 ? url.slice(start) : url.slice(start, query)
}
