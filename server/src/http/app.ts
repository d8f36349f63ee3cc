import type { Handler, HttpRequest, HttpResponse, RequestHeaders, RequestProblem } from '@petstore/wire'
import { headerLines } from '@petstore/wire'
import {
  type ApiKey,
  hashSecret,
  isWellFormedSecret,
  keyState,
  requirePermission,
} from '../core/keys/api-key.ts'
import { hashTypedCode } from '../core/keys/pairing.ts'
import type { Admission, KeyWindows, LimitStatus, Refusal, WindowStatus } from '../core/limits/limit-store.ts'
import { reportedWindow } from '../core/limits/rate-windows.ts'
import { SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { MaybePromise } from '../core/values/maybe-promise.ts'
import { formatTraceContext } from '../core/values/trace-context.ts'
import { corsLines, isPreflight, preflightReply } from './cors.ts'
import { Deadlines, deadlineError } from './deadlines.ts'
import { quotasOf, rateLimitFields } from './limits.ts'
import {
  acceptsIfMatch,
  deprecationHeaders,
  type Input,
  invalid,
  type Operation,
  type PathSegments,
} from './operation.ts'
import { type PublicPage, publicPages } from './public-pages.ts'
import {
  errorReply,
  methodNotAllowedReply,
  NO_STORE,
  NO_TOKEN_CHALLENGE,
  notFoundReply,
  PAIRING_CODE_ADVICE,
  parseIfMatch,
  prefersProblem,
  REVALIDATE,
  type Reply,
  readIdempotency,
  toProblem,
  unauthorizedReply,
  WRONG_PAIRING_CODE,
  WRONG_TOKEN_CHALLENGE,
} from './reply.ts'
import {
  type AppParts,
  type MatchedRoute,
  OperationContext,
  RequestContext,
  type Route,
} from './request-context.ts'
import { OPERATIONS } from './routes.ts'

/** The steps of a request to an operation. Once a step has set the reply, the remaining steps are skipped. */
const LIFECYCLE: readonly Step[] = [
  step({ name: 'match', start: matchRoute }),
  step({ name: 'identify', start: findKey, complete: checkKey }),
  step({ name: 'admit', start: countRequest, complete: checkLimits }),
  step({ name: 'authorise', start: requireOperation, complete: checkPermission }),
  step({ name: 'parse', start: receiveInput, complete: parseInput }),
  step({ name: 'prepare', start: prepare, complete: setPrepared }),
  step({ name: 'run', start: respond, complete: setReply }),
]

export function createApp(parts: AppParts): Handler {
  const pages = publicPages(parts)
  const deadlines = new Deadlines(expire)
  return {
    answer(request) {
      const page = pages.get(request.path)
      if (page !== undefined) return answerPage(new RequestContext(parts, request), page, request)
      const context = new OperationContext(parts, request)
      if (parts.corsOrigins !== undefined && isPreflight(parts.corsOrigins, request)) {
        return answerPreflight(context)
      }
      return runSteps(context, 0) ?? deadlines.wait(context)
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
  complete?(context: OperationContext, value: Value): void
}

/** Lets the compiler check that `complete` accepts the value that `start` returns. */
function step<Value>(definition: Step<Value>): Step {
  return definition
}

/**
 * Runs the steps from `firstIndex` on, until a step sets the reply. Returns `undefined` if a step returns a promise: the request's
 * responder is then called later.
 */
function runSteps(context: OperationContext, firstIndex: number): HttpResponse | undefined {
  try {
    for (let index = firstIndex; context.reply === undefined; index++) {
      const current = LIFECYCLE[index]
      if (current === undefined) break
      const value = current.start(context)
      if (value instanceof Promise) {
        void resumeSteps(context, current, value, index + 1)
        return undefined
      }
      if (context.reply === undefined) current.complete?.(context, value)
    }
  } catch (error) {
    context.fail(error)
  }
  return finish(context)
}

/** Completes the current step once its value is available, then runs the steps after it. */
async function resumeSteps(
  context: OperationContext,
  current: Step,
  pending: Promise<unknown>,
  nextIndex: number,
): Promise<void> {
  const isBodyAwaited = current.name === 'parse'
  if (isBodyAwaited) context.deadline = Number.POSITIVE_INFINITY
  try {
    const value = await pending
    if (context.hasExpired) return
    current.complete?.(context, value)
  } catch (error) {
    if (context.hasExpired) return
    context.fail(error)
  }
  if (isBodyAwaited) context.deadline = context.newDeadline()
  try {
    const response = runSteps(context, nextIndex)
    if (response !== undefined) context.responder?.resolve(response)
  } catch (error) {
    context.responder?.reject(error)
  }
}

function expire(context: OperationContext): HttpResponse {
  context.fail(deadlineError(context))
  context.hasExpired = true
  return finish(context)
}

const BASE_PATH = '/v1'

type OperationsByMethod = ReadonlyMap<string, Operation>

/** Paths without parameters, which take precedence over patterns. */
const FIXED_PATHS = new Map<string, OperationsByMethod>()
const PATTERNS: { readonly pattern: RegExp; readonly byMethod: OperationsByMethod }[] = []

for (const [path, group] of Map.groupBy(OPERATIONS, (operation) => BASE_PATH + operation.path)) {
  const byMethod = new Map<string, Operation>()
  for (const operation of group) {
    byMethod.set(operation.method, operation)
    if (operation.method === 'GET') byMethod.set('HEAD', operation)
  }
  const pattern = path.replaceAll(/\{([^}]+)\}/g, '(?<$1>[^/]*)')
  if (pattern === path) FIXED_PATHS.set(path, byMethod)
  else PATTERNS.push({ pattern: new RegExp(`^${pattern}$`), byMethod })
}

const ALL_METHODS = [...new Set([...OPERATIONS.map(({ method }) => method), 'HEAD'])].sort()

/** `path` includes the base path. */
function findRoute(method: string, path: string): Route {
  // `OPTIONS *` asks about the service as a whole.
  if (path === '*') return { type: 'method_not_allowed', allowed: ALL_METHODS }
  const operations = FIXED_PATHS.get(path)
  if (operations !== undefined) return matchMethod(operations, method, {})
  for (const { pattern, byMethod } of PATTERNS) {
    const segments = pattern.exec(path)?.groups
    if (segments === undefined) continue
    return matchMethod(byMethod, method, path.includes('%') ? decodeSegments(segments) : segments)
  }
  return { type: 'not_found' }
}

function matchMethod(byMethod: OperationsByMethod, method: string, segments: PathSegments): Route {
  const operation = byMethod.get(method)
  return operation === undefined
    ? { type: 'method_not_allowed', allowed: [...byMethod.keys()] }
    : { type: 'operation', operation, segments }
}

/** If the percent-encoding is invalid, the segments stay encoded. No parameter accepts a `%`, so the request then gets 400. */
function decodeSegments(segments: PathSegments): PathSegments {
  try {
    return Object.fromEntries(
      Object.entries(segments).map(([name, segment]) => [name, decodeURIComponent(segment)]),
    )
  } catch {
    return segments
  }
}

function matchRoute(context: OperationContext): void {
  context.route = findRoute(context.method, context.path)
  if (context.route.type !== 'operation') return
  context.operationName = context.route.operation.operationId
  context.deadline = context.newDeadline()
}

type Credentials =
  | { readonly type: 'secret'; readonly secret: string; readonly hash: string }
  | { readonly type: 'none'; readonly reason: string; readonly challenge: string }

/** A connection that repeats the same header bytes reuses the headers object, so the secret is hashed only once. */
const credentialsByHeaders = new WeakMap<RequestHeaders, Credentials>()

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i
/** People may type a space in the middle of a pairing code. */
const BEARER_CODE = /^bearer +(\S.*)$/i

const KEY_ADVICE = 'send "Authorization: Bearer <API_KEY>" with a valid key'

/** Finds the key of a request. Refuses a request without a well-formed key. */
function findKey(context: OperationContext): MaybePromise<ApiKey | undefined> {
  const { route } = context
  const takesPairingCode = route.type === 'operation' && route.operation.takesPairingCode
  return takesPairingCode ? findKeyByCode(context) : findKeyBySecret(context)
}

function findKeyBySecret(context: OperationContext): MaybePromise<ApiKey | undefined> {
  const { keyRing, demoSecrets } = context.parts.access
  const credentials = credentialsOf(context.request.headers)
  if (credentials.type === 'none') {
    refuseUnauthenticated(context, credentials.reason, credentials.challenge)
    return undefined
  }
  const { secret, hash } = credentials
  context.secretHash = hash
  const cachedKey = keyRing.findCached(hash)
  if (cachedKey !== undefined) return cachedKey
  if (isWellFormedSecret(secret) || demoSecrets.has(secret)) return lookUpKey(context, hash)
  refuseUnauthenticated(context, 'the API key is not valid: it is mistyped or cut off')
  return undefined
}

/**
 * Every code counts against the limit of its address, and counts before its lookup, so that parallel guesses cannot exceed the
 * limit, which is tiny compared to 2^40 codes that soon expire.
 */
function findKeyByCode(context: OperationContext): MaybePromise<ApiKey | undefined> {
  context.isPairing = true
  applyAddressLimit(context)
  if (context.reply !== undefined) return undefined
  const code = BEARER_CODE.exec(context.header('authorization') ?? '')?.[1]
  if (code === undefined) {
    context.reply = unauthorizedReply('the pairing code is missing', PAIRING_CODE_ADVICE, NO_TOKEN_CHALLENGE)
    return undefined
  }
  const hash = hashTypedCode(code)
  if (hash === undefined) return undefined
  context.secretHash = hash
  const { store, clock } = context.parts.services
  return store.findKeyByPairingCode(hash, clock())
}

/**
 * If the address has exceeded its limit, a secret whose hash is not in the key ring, which has the hashes of all secrets, is
 * refused without a lookup. So guessing secrets cannot overload the database, and a valid key still works from such an address.
 */
async function lookUpKey(context: OperationContext, hash: string): Promise<ApiKey | undefined> {
  const { keyRing, addresses } = context.parts.access
  if (!keyRing.hasHash(hash) && addresses.status(context.clientAddress()).refused !== undefined) {
    // The key may have been created a moment ago.
    await keyRing.refresh()
    if (!keyRing.hasHash(hash)) return undefined
  }
  return keyRing.findInStore(hash)
}

function checkKey(context: OperationContext, key: ApiKey | undefined): void {
  const state = keyState(key, context.parts.services.clock())
  if (state === 'active') {
    context.key = key
  } else if (context.isPairing) {
    const reason = key === undefined ? WRONG_PAIRING_CODE : `the API key is ${state}`
    context.reply = unauthorizedReply(reason, PAIRING_CODE_ADVICE)
  } else {
    refuseUnauthenticated(context, `the API key is ${state}`)
  }
}

/** Counts the request against the limits of its key, unless its operation is exempt from limits. */
function countRequest(context: OperationContext): MaybePromise<WindowStatus | Admission> {
  const { parts, caller, route } = context
  if (route.type === 'operation' && route.operation.isExemptFromLimits) {
    const report = (windows: KeyWindows) => {
      context.keyWindows = windows
      return reportedWindow(windows)
    }
    const windows = parts.services.limits.windowsOf(caller.id, caller.limits)
    return windows instanceof Promise ? windows.then(report) : report(windows)
  }
  return parts.services.limits.admit(caller.id, caller.limits)
}

function checkLimits(context: RequestContext, status: WindowStatus | Admission): void {
  context.limitStatus = status
  if ('refused' in status && status.refused !== undefined) refuseAdmission(context, status, status.refused)
}

/** Counts a request without a key against the limit of its address. Replies 429 if the limit is exceeded. */
function applyAddressLimit(context: RequestContext): void {
  checkLimits(context, context.parts.access.addresses.admit(context.clientAddress()))
}

/** Counts a malformed request against its address. A refused connection has not sent anything, so it is not counted. */
function refuseMalformed(context: RequestContext, problem: RequestProblem): void {
  if (problem.kind !== 'too_many_connections') applyAddressLimit(context)
  if (context.reply === undefined) context.fail(problem)
}

function credentialsOf(headers: RequestHeaders): Credentials {
  let credentials = credentialsByHeaders.get(headers)
  if (credentials === undefined) {
    credentials = parseAuthorization(headers.get('authorization'))
    credentialsByHeaders.set(headers, credentials)
  }
  return credentials
}

function parseAuthorization(authorization: string | null): Credentials {
  if (authorization === null)
    return { type: 'none', reason: 'the API key is missing', challenge: NO_TOKEN_CHALLENGE }
  const secret = BEARER.exec(authorization)?.[1]
  if (secret !== undefined) return { type: 'secret', secret, hash: hashSecret(secret) }
  return {
    type: 'none',
    reason: 'the Authorization header has no bearer token',
    challenge: /^bearer\b/i.test(authorization) ? WRONG_TOKEN_CHALLENGE : NO_TOKEN_CHALLENGE,
  }
}

/** Replies 401, or 429 if the address has sent too many such requests. */
function refuseUnauthenticated(
  context: RequestContext,
  reason: string,
  challenge = WRONG_TOKEN_CHALLENGE,
): void {
  applyAddressLimit(context)
  if (context.reply !== undefined) return
  context.reply = unauthorizedReply(reason, KEY_ADVICE, challenge)
}

function refuseAdmission(context: RequestContext, admission: Admission, refusal: Refusal): void {
  const limit = `limit of ${admission.limit} requests per ${admission.window}`
  const reason =
    refusal === 'key_banned'
      ? `this API key is banned temporarily, because it kept sending requests after it had exceeded its ${limit}`
      : `the ${limit} is exceeded`
  context.limitRefusal = {
    reason: context.key === undefined ? 'anonymous' : refusal,
    beginsBan: admission.beginsBan === true,
  }
  const seconds = Math.max(1, Math.ceil((admission.resetAt - admission.at) / SECOND))
  const error = new ServiceError(refusal, `${reason}; wait ${seconds} s before the next request`)
  const quotas = context.key === undefined ? [admission] : quotasOf(context.key.limits)
  context.reply = errorReply(error, {
    'Retry-After': String(seconds),
    ...rateLimitFields(quotas, [admission], admission.at),
  })
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
  const { permission } = matched.operation
  if (permission !== undefined) requirePermission(caller, permission)
}

/** Reads the path and query parameters, and receives the body if the operation has one. */
function receiveInput(context: OperationContext): MaybePromise<Uint8Array | undefined> {
  const { operation, segments } = context.matched
  context.params = operation.readParams(segments)
  context.query = operation.readQuery(context.request.query)
  if (operation.readBody === undefined) return undefined
  const body = context.request.body(operation.maxBodyBytes)
  return body instanceof Promise ? receiveLateBody(context, body) : body
}

async function receiveLateBody(context: OperationContext, body: Promise<Uint8Array>): Promise<Uint8Array> {
  const bytes = await body
  await context.parts.bodyTurns.wait(bytes.length)
  await confirmKey(context)
  return bytes
}

/**
 * Checks the key again after the request had to wait, because the key may have expired or been changed since. Throws if the
 * request is no longer allowed.
 */
function confirmKey(context: OperationContext): MaybePromise<void> {
  const { keyRing } = context.parts.access
  const cachedKey = keyRing.findCached(context.secretHash)
  if (cachedKey === undefined) {
    return keyRing.findInStore(context.secretHash).then((key) => requireActiveKey(context, key))
  }
  requireActiveKey(context, cachedKey)
}

function requireActiveKey(context: OperationContext, key: ApiKey | undefined): void {
  const state = keyState(key, context.parts.services.clock())
  if (key === undefined || state !== 'active') {
    throw new ServiceError('unauthorized', `the API key is ${state}; ${KEY_ADVICE}`)
  }
  context.key = key
  checkPermission(context)
}

/** Refuses the header if it would have no effect, because its sender relies on it. */
function readIfMatch(operation: Operation, header: string | null): Input['ifMatch'] {
  if (header === null || acceptsIfMatch(operation)) return parseIfMatch(header)
  const { method, path } = operation
  throw invalid(`${method} ${path} does not support If-Match; only PATCH and DELETE do`)
}

function parseInput(context: OperationContext, bytes: Uint8Array | undefined): void {
  const { request, matched } = context
  const { operation } = matched
  context.ifMatch = readIfMatch(operation, context.header('if-match'))
  if (bytes !== undefined) context.body = operation.readBody?.(request, bytes)
  if (operation.acceptsIdempotencyKey) context.idempotency = readIdempotency(request, bytes)
}

function prepare(context: OperationContext): MaybePromise<unknown> {
  const { matched, params, parts } = context
  return matched.operation.prepare?.(params, parts.services)
}

function setPrepared(context: OperationContext, value: unknown): void {
  context.prepared = value
}

function respond(context: OperationContext): MaybePromise<Reply> {
  const { request, caller, keyWindows, secretHash, params, query, body, ifMatch, idempotency } = context
  const input = {
    request,
    key: caller,
    keyWindows,
    confirmKey: () => confirmKey(context),
    secretHash,
    params,
    query,
    body,
    ifMatch,
    idempotency,
    requester: context,
  }
  // A command clears this, until its commit begins.
  context.isBeingCommitted = context.matched.operation.method !== 'GET'
  return context.matched.operation.reply(input, context.parts.services, context.prepared)
}

function setReply(context: OperationContext, reply: Reply): void {
  context.reply = reply
}

/** Counts a page that is sent against its address. A 304 does not count. */
function applyPageLimit(context: RequestContext): void {
  const admission = context.parts.access.pageAddresses.admit(context.clientAddress())
  if (admission.refused === undefined) return
  context.isPublicPage = false
  checkLimits(context, admission)
}

async function answerPage(
  context: RequestContext,
  page: PublicPage,
  request: HttpRequest,
): Promise<HttpResponse> {
  context.operationName = page.name
  context.isPublicPage = true
  try {
    context.reply =
      request.method === 'GET' || request.method === 'HEAD'
        ? await page.answer(request)
        : methodNotAllowedReply(request.method, ['GET', 'HEAD'])
    if (page.isLimited && request.method === 'GET' && context.reply.body !== null) applyPageLimit(context)
  } catch (error) {
    context.fail(error)
  }
  return finish(context)
}

/**
 * A preflight request counts against no limit: it has no key, a refusal would keep the browser from sending a request that has
 * a valid key, and the response needs no database.
 */
function answerPreflight(context: OperationContext): HttpResponse {
  context.operationName = 'preflight'
  // No operation has the method OPTIONS, so the route of an existing path is `method_not_allowed`.
  const route = findRoute(context.method, context.path)
  context.reply = preflightReply(route.type === 'method_not_allowed' ? route.allowed : undefined)
  return finish(context)
}

const STRICT_TRANSPORT = 'Strict-Transport-Security: max-age=31536000\r\n'
const NO_STORE_LINES = headerLines(NO_STORE)
const REVALIDATE_LINES = headerLines(REVALIDATE)
/** For responses other than pages: a browser that shows one runs and loads nothing, and other sites cannot embed it. */
const DATA_POLICY_LINES = headerLines({
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
})

/** Notifies the observers of the request, and adds the headers that every response has. */
function finish(context: RequestContext): HttpResponse {
  const { parts, requestId } = context
  if (context.reply === undefined) throw new Error('no step has replied')
  const isProblem = context.reply.status >= 400 && prefersProblem(context.header('accept'))
  const reply = isProblem ? toProblem(context.reply) : context.reply
  context.finish(reply.status)
  const replyLines = reply.lines ?? headerLines(reply.headers)
  const apiLines = context.isPublicPage ? '' : apiHeaderLines(context)
  const traceLine =
    context.trace === undefined ? '' : `traceresponse: ${formatTraceContext(context.trace)}\r\n`
  const transportLine = parts.isTls ? STRICT_TRANSPORT : ''
  const policyLines = 'Content-Security-Policy' in reply.headers ? '' : DATA_POLICY_LINES
  const commonLines = `X-Request-Id: ${requestId}\r\n${traceLine}X-Content-Type-Options: nosniff\r\n${policyLines}${transportLine}`
  return {
    status: reply.status,
    lines: `${replyLines}${cacheLines(context.method, reply)}${apiLines}${commonLines}`,
    body: reply.body,
    isClientAuthenticated: context.key !== undefined,
  }
}

/** Content that a caller reads can be revalidated. All other replies are for the moment, such as errors and results of changes. */
function cacheLines(method: string, { headers }: Reply): string {
  if ('Cache-Control' in headers) return ''
  const isRead = method === 'GET' || method === 'HEAD'
  return isRead && 'ETag' in headers ? REVALIDATE_LINES : NO_STORE_LINES
}

function apiHeaderLines(context: RequestContext): string {
  const { access, corsOrigins } = context.parts
  // If reading the key or its limits failed, there is no window of the key, so the headers show the window of the address.
  const limitStatus = context.limitStatus ?? access.addresses.status(context.clientAddress())
  const cors = corsOrigins === undefined ? '' : corsLines(corsOrigins, context.header('origin'))
  return `${context.deprecationLines}${rateLimitLines(limitStatus)}${cors}`
}

function rateLimitLines({ limit, remaining, resetAt }: LimitStatus): string {
  return `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${Math.ceil(resetAt / SECOND)}\r\n`
}
