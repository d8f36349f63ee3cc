import type { Handler, HttpRequest, HttpResponse } from '@petstore/wire'
import { headerLines } from '@petstore/wire'
import { requirePermission } from '../core/keys/api-key.ts'
import type { WindowStatus } from '../core/limits/limit-store.ts'
import { SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { MaybePromise } from '../core/values/maybe-promise.ts'
import { formatTraceContext } from '../core/values/trace-context.ts'
import { corsLines, isPreflight, preflightReply } from './cors.ts'
import { checkKey, checkLimits, countAgainstAddress, countRequest, findKey, refuseMalformed } from './gate.ts'
import { readIdempotency } from './idempotency.ts'
import { deprecationHeaders } from './operation.ts'
import { type PublicPage, publicPages } from './public-pages.ts'
import { methodNotAllowedReply, notFoundReply, type Reply } from './reply.ts'
import { type AppParts, type MatchedRoute, OperationContext, RequestContext } from './request-context.ts'
import { ROUTER } from './routes.ts'

/** The steps of a request to an operation. Once a step has set the reply, the remaining steps are skipped. */
const LIFECYCLE: readonly Step[] = [
  step({ name: 'match', start: matchRoute }),
  step({ name: 'identify', start: findKey, complete: checkKey }),
  // On PostgreSQL counting is a round trip, so the operation's own read starts at the same time.
  step({ name: 'admit', start: countRequest, meanwhile: prepareEarly, complete: checkLimits }),
  step({ name: 'authorise', start: requireOperation, complete: checkPermission }),
  step({ name: 'parse', start: receiveInput, complete: parseInput }),
  step({ name: 'prepare', start: prepare, complete: setPrepared }),
  step({ name: 'run', start: respond, complete: setReply }),
]

export function createApp(parts: AppParts): Handler {
  const pages = publicPages(parts)
  return {
    answer(request) {
      const page = pages.get(request.path)
      if (page !== undefined) return answerPage(new RequestContext(parts, request), page, request)
      const context = new OperationContext(parts, request)
      if (parts.corsOrigins !== undefined && isPreflight(parts.corsOrigins, request)) {
        return answerPreflight(context)
      }
      return runSteps(context, 0)
    },
    refuse(problem, address) {
      const context = new RequestContext(parts, { method: '-', path: '-', address })
      refuseMalformed(context, problem)
      return finish(context)
    },
  }
}

interface Step<Value = unknown> {
  readonly name: string
  start(context: OperationContext): MaybePromise<Value>
  /** Called while the value of `start` is pending. Must not throw. */
  meanwhile?(context: OperationContext): void
  complete?(context: OperationContext, value: Value): void
}

/** Lets the compiler check that `complete` accepts the value that `start` returns. */
function step<Value>(definition: Step<Value>): Step {
  return definition
}

/**
 * Runs the steps from `firstIndex` on, until a step sets the reply. If no step returns a promise, the answer is returned
 * synchronously.
 */
function runSteps(context: OperationContext, firstIndex: number): MaybePromise<HttpResponse> {
  try {
    for (let index = firstIndex; index < LIFECYCLE.length && context.reply === undefined; index++) {
      const current = stepAt(index)
      const value = current.start(context)
      if (value instanceof Promise) {
        current.meanwhile?.(context)
        return resumeSteps(context, index, value)
      }
      if (context.reply === undefined) current.complete?.(context, value)
    }
  } catch (error) {
    context.fail(error)
  }
  return finish(context)
}

/** Completes the step at `index` once its value is available, then runs the steps after it. */
async function resumeSteps(
  context: OperationContext,
  index: number,
  pending: Promise<unknown>,
): Promise<HttpResponse> {
  try {
    const value = await pending
    stepAt(index).complete?.(context, value)
  } catch (error) {
    context.fail(error)
  }
  return runSteps(context, index + 1)
}

function stepAt(index: number): Step {
  const found = LIFECYCLE[index]
  if (found === undefined) throw new Error(`the lifecycle has no step ${index}`)
  return found
}

function matchRoute(context: OperationContext): void {
  context.route = ROUTER.match(context.method, context.path)
  if (context.route.type === 'operation') context.operationName = context.route.operation.operationId
}

/** Replies 404 or 405 if no operation matches. Throws `gone` if the operation's sunset date has passed. */
function requireOperation(context: OperationContext): void {
  const { route } = context
  switch (route.type) {
    case 'not_found':
      context.reply = notFoundReply(context.path)
      break
    case 'method_not_allowed':
      context.reply = methodNotAllowedReply(context.method, route.allowed)
      break
    case 'operation':
      if (route.operation.deprecatedSince !== undefined) applyDeprecation(context, route)
  }
}

/** Adds the deprecation headers. Throws `gone` if the operation has ended. */
function applyDeprecation(context: OperationContext, { operation, segments }: MatchedRoute): void {
  const { sunset, services } = context.parts
  context.deprecationLines = headerLines(deprecationHeaders(operation, segments, sunset))
  if (services.clock() < sunset.getTime()) return
  const { method, path } = operation
  const day = sunset.toISOString().slice(0, 10)
  throw new ServiceError(
    'gone',
    `${method} ${path} ended on ${day}; /openapi.json lists the current operations`,
  )
}

/** Throws if the key lacks the permission that the operation needs. */
function checkPermission({ matched, caller }: OperationContext): void {
  const { needs } = matched.operation
  if (needs !== undefined) requirePermission(caller, needs)
}

/** Reads the path and query parameters, and receives the body if the operation has one. */
function receiveInput(context: OperationContext): MaybePromise<Uint8Array | undefined> {
  const { operation, segments } = context.matched
  context.params = operation.readParams(segments)
  context.query = operation.readQuery(context.request.query)
  return operation.body === undefined ? undefined : context.request.body(operation.maxBodyBytes)
}

function parseInput(context: OperationContext, bytes: Uint8Array | undefined): void {
  const { request, caller, secretHash, params, query } = context
  const { operation } = context.matched
  const body = bytes === undefined ? undefined : operation.readBody?.(request, bytes)
  const idempotency = operation.acceptsIdempotencyKey ? readIdempotency(request, bytes) : undefined
  context.input = { request, key: caller, secretHash, params, query, body, idempotency }
}

/**
 * Starts the operation's `prepare` early. The `prepare` step awaits the promise and handles its error. A refused
 * request never reaches that step, so the empty catch prevents an unhandled rejection.
 */
function prepareEarly(context: OperationContext): void {
  const { route, parts } = context
  if (route.type !== 'operation' || route.operation.prepare === undefined) return
  const { operation, segments } = route
  context.preparing = Promise.try(() => operation.prepare?.(operation.readParams(segments), parts.services))
  context.preparing.catch(() => {})
}

function prepare(context: OperationContext): MaybePromise<unknown> {
  const { matched, params, parts } = context
  return context.preparing ?? matched.operation.prepare?.(params, parts.services)
}

function setPrepared(context: OperationContext, value: unknown): void {
  context.prepared = value
}

function respond(context: OperationContext): MaybePromise<Reply> {
  const { matched, input, parts, prepared } = context
  return matched.operation.respond(input, parts.services, prepared)
}

function setReply(context: OperationContext, reply: Reply): void {
  context.reply = reply
}

async function answerPage(
  context: RequestContext,
  page: PublicPage,
  request: HttpRequest,
): Promise<HttpResponse> {
  context.operationName = page.name
  context.isPublicPage = true
  try {
    context.reply = await page.answer(request)
  } catch (error) {
    context.fail(error)
  }
  return finish(context)
}

/** A browser sends no key with a preflight request, so the request counts against the limit of its address. */
function answerPreflight(context: OperationContext): HttpResponse {
  context.operationName = 'preflight'
  countAgainstAddress(context)
  if (context.reply === undefined) {
    const route = ROUTER.match(context.method, context.path)
    context.reply = preflightReply(route.type === 'method_not_allowed' ? route.allowed : undefined)
  }
  return finish(context)
}

const STRICT_TRANSPORT = 'Strict-Transport-Security: max-age=31536000\r\n'

/** Notifies the observers of the request, and adds the headers that every answer has. */
function finish(context: RequestContext): HttpResponse {
  const { reply, parts, requestId } = context
  if (reply === undefined) throw new Error('no step has replied')
  context.finish(reply.status)
  const replyLines = reply.lines ?? headerLines(reply.headers)
  const apiLines = context.isPublicPage ? '' : apiHeaderLines(context)
  const traceLine =
    context.trace === undefined ? '' : `traceresponse: ${formatTraceContext(context.trace)}\r\n`
  const transportLine = parts.isTls ? STRICT_TRANSPORT : ''
  const commonLines = `X-Request-Id: ${requestId}\r\n${traceLine}X-Content-Type-Options: nosniff\r\n${transportLine}`
  return {
    status: reply.status,
    lines: `${replyLines}${apiLines}${commonLines}`,
    body: reply.body,
    isClientAuthenticated: context.key !== undefined,
  }
}

function apiHeaderLines(context: RequestContext): string {
  const { gate, corsOrigins } = context.parts
  // If reading the key or its limits failed, there is no window of the key, so the headers show the window of the address.
  const windowStatus = context.windowStatus ?? gate.addresses.status(context.clientAddress())
  const cors = corsOrigins === undefined ? '' : corsLines(corsOrigins, context.header('origin'))
  return `${context.deprecationLines}${rateLimitLines(windowStatus)}${cors}`
}

function rateLimitLines({ limit, remaining, resetAt }: WindowStatus): string {
  return `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${Math.ceil(resetAt / SECOND)}\r\n`
}
