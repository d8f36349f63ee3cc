// The steps `identify` and `admit`: which key sent a request, and whether the request is within the limits of the key.
import type { RequestHeaders, RequestProblem } from '@petstore/wire'
import { type ApiKey, hashSecret, isWellFormedSecret, keyState } from '../core/keys/api-key.ts'
import { hashTypedCode } from '../core/keys/pairing.ts'
import type { Admission, Refusal, WindowStatus } from '../core/limits/limit-store.ts'
import { tighterOf } from '../core/limits/rate-windows.ts'
import { SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { MaybePromise } from '../core/values/maybe-promise.ts'
import type { OperationContext, RequestContext } from './request-context.ts'

type Credentials =
  | { readonly type: 'secret'; readonly secret: string; readonly hash: string }
  | { readonly type: 'none'; readonly reason: string; readonly hasToken: boolean }

/** A connection that repeats the same header bytes reuses the headers object, so the secret is hashed only once. */
const credentialsByHeaders = new WeakMap<RequestHeaders, Credentials>()

/** RFC 6750: the error code is sent only if the request had a bearer token. */
const WRONG_TOKEN = 'Bearer realm="petstore", error="invalid_token"'
const NO_TOKEN = 'Bearer realm="petstore"'

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i
/** People may type a blank in the middle of a pairing code. */
const BEARER_CODE = /^bearer +(\S.*)$/i

const KEY_ADVICE = 'send "Authorization: Bearer <API_KEY>" with a valid key'
const CODE_ADVICE = 'send "Authorization: Bearer <CODE>" with a new pairing code'
const WRONG_CODE = 'the pairing code is wrong, has expired or was used already'
export const WRONG_CODE_HEADERS = { 'WWW-Authenticate': WRONG_TOKEN }

export function wrongCodeError(): ServiceError {
  return new ServiceError('unauthorized', `${WRONG_CODE}; ${CODE_ADVICE}`)
}

/** Finds the key of a request. Refuses a request without a well-formed key. */
export function findKey(context: OperationContext): MaybePromise<ApiKey | undefined> {
  const { route } = context
  const takesPairingCode = route.type === 'operation' && route.operation.takesPairingCode
  return takesPairingCode ? findKeyByCode(context) : findKeyBySecret(context)
}

function findKeyBySecret(context: OperationContext): MaybePromise<ApiKey | undefined> {
  const { keys, demoSecrets } = context.parts.gate
  const credentials = credentialsOf(context.request.headers)
  if (credentials.type === 'none') {
    refuseUnauthenticated(context, credentials.reason, credentials.hasToken)
    return undefined
  }
  const { secret, hash } = credentials
  context.secretHash = hash
  const known = keys.findCached(hash)
  if (known !== undefined) return known
  if (isWellFormedSecret(secret) || demoSecrets.has(secret)) return lookUpKey(context, hash)
  refuseUnauthenticated(context, 'the API key is not valid: it is mistyped or cut off')
  return undefined
}

/** Refuses every code from an address that is blocked or has exceeded its limit, so codes cannot be guessed. */
function findKeyByCode(context: OperationContext): MaybePromise<ApiKey | undefined> {
  context.isPairing = true
  const { pairing, addresses } = context.parts.gate
  const address = context.clientAddress()
  const blockedUntil = pairing.blockedUntil(address)
  const code = BEARER_CODE.exec(context.header('authorization') ?? '')?.[1]
  if (blockedUntil !== undefined) refuseBlocked(context, blockedUntil)
  else if (addresses.status(address).refused !== undefined) countAgainstAddress(context)
  else if (code === undefined) refuseUnauthenticated(context, 'the pairing code is missing', false)
  else {
    const hash = hashTypedCode(code)
    context.secretHash = hash ?? ''
    return pairing.findKey(address, hash)
  }
  return undefined
}

/**
 * If the address has exceeded its limit, a secret whose hash is not in the key ring is refused without a lookup, so
 * guessing secrets cannot overload the database. A valid key still works from such an address.
 */
async function lookUpKey(context: OperationContext, hash: string): Promise<ApiKey | undefined> {
  const { keys, addresses } = context.parts.gate
  if (!keys.hasHash(hash) && addresses.status(context.clientAddress()).refused !== undefined) {
    // The key may have been created a moment ago.
    await keys.refresh()
    if (!keys.hasHash(hash)) return undefined
  }
  return keys.find(hash)
}

export function checkKey(context: OperationContext, key: ApiKey | undefined): void {
  if (key === undefined) {
    refuseUnauthenticated(context, context.isPairing ? WRONG_CODE : 'the API key is unknown')
    return
  }
  const state = keyState(key, context.parts.gate.clock())
  if (state === 'active') context.key = key
  else refuseUnauthenticated(context, `the API key is ${state}`)
}

/** Counts the request against the limits of its key, unless its operation is free. */
export function countRequest(context: OperationContext): MaybePromise<WindowStatus | Admission> {
  const { parts, request, caller, route } = context
  if (route.type === 'operation' && route.operation.isFree) {
    const windows = parts.gate.limits.windowsOf(caller.id, caller.limits)
    return windows instanceof Promise ? windows.then(tighterOf) : tighterOf(windows)
  }
  const { receivedAt, connection } = request
  // Behind a proxy, a connection does not identify a client.
  const arrival = { receivedAt, connection: parts.trustedProxies > 0 ? undefined : connection }
  return parts.gate.limits.admit(caller.id, caller.limits, arrival)
}

export function checkLimits(context: RequestContext, status: WindowStatus | Admission): void {
  context.windowStatus = status
  if ('refused' in status && status.refused !== undefined) refuseLimited(context, status, status.refused)
}

/** Counts a request without a key against the limit of its address. Replies 429 if the limit is exceeded. */
export function countAgainstAddress(context: RequestContext): void {
  checkLimits(context, context.parts.gate.addresses.admit(context.clientAddress()))
}

/** Counts a malformed request against its address. A refused connection has not sent anything, so it is not counted. */
export function refuseMalformed(context: RequestContext, problem: RequestProblem): void {
  if (problem.kind !== 'too_many_connections') countAgainstAddress(context)
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
  if (authorization === null) return { type: 'none', reason: 'the API key is missing', hasToken: false }
  const secret = BEARER.exec(authorization)?.[1]
  if (secret !== undefined) return { type: 'secret', secret, hash: hashSecret(secret) }
  return {
    type: 'none',
    reason: 'the Authorization header has no bearer token',
    hasToken: /^bearer\b/i.test(authorization),
  }
}

/** Replies 401, or 429 if the address has sent too many such requests. */
function refuseUnauthenticated(context: RequestContext, reason: string, hasToken = true): void {
  countAgainstAddress(context)
  if (context.reply !== undefined) return
  const advice = context.isPairing ? CODE_ADVICE : KEY_ADVICE
  context.fail(new ServiceError('unauthorized', `${reason}; ${advice}`), {
    'WWW-Authenticate': hasToken ? WRONG_TOKEN : NO_TOKEN,
  })
}

/** Replies 429 to an address that has sent too many wrong pairing codes. */
function refuseBlocked(context: RequestContext, blockedUntil: number): void {
  countAgainstAddress(context)
  if (context.reply !== undefined) return
  const seconds = Math.max(1, Math.ceil((blockedUntil - context.parts.gate.clock()) / SECOND))
  context.limitRefusal = { reason: 'anonymous', beginsBan: false }
  const message = `this address has sent too many wrong pairing codes; wait ${seconds} s before the next request`
  context.fail(new ServiceError('rate_limit_exceeded', message), { 'Retry-After': String(seconds) })
}

function refuseLimited(context: RequestContext, admission: Admission, refusal: Refusal): void {
  const seconds = Math.max(1, Math.ceil((admission.resetAt - admission.at) / SECOND))
  const reason =
    refusal === 'key_banned'
      ? 'this API key is banned temporarily, because it kept sending requests after it had exceeded its limit'
      : `the limit of ${admission.limit} requests is exceeded`
  context.limitRefusal = {
    reason: context.key === undefined ? 'anonymous' : refusal,
    beginsBan: admission.beginsBan === true,
  }
  context.fail(new ServiceError(refusal, `${reason}; wait ${seconds} s before the next request`), {
    'Retry-After': String(seconds),
  })
}
