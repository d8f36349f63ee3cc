import type { RequestHeaders, RequestProblem } from '@petstore/wire'
import { type ApiKey, hashSecret, isWellFormedSecret, keyState } from '../core/keys/api-key.ts'
import type { KeyRing } from '../core/keys/key-ring.ts'
import type { Admission, Arrival, LimitKeeper, Refusal, WindowStatus } from '../core/limits/limit-store.ts'
import type { AddressWindows } from '../core/limits/rate-windows.ts'
import { type Clock, SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import { andThen, type MaybePromise } from '../core/values/maybe-promise.ts'
import type { FinishedRequest, Limited } from './finished-request.ts'

export interface GateParts {
  readonly keys: KeyRing
  readonly limits: LimitKeeper
  readonly addresses: AddressWindows
  readonly clock: Clock
  /** Secrets that are accepted though they do not have the form of a key: those of the demo. */
  readonly demoSecrets: ReadonlySet<string>
}

/** What is known of the sender of a request without a key. */
type Client = Pick<FinishedRequest, 'clientAddress'>

export interface Authenticated {
  readonly key: ApiKey
  /** The hash of the secret that was sent: under it, whether the key still holds can be asked again. */
  readonly secretHash: string
}

/** Whose request it is, or why it goes no further: it has no valid key, or that cannot be told. */
export type Identity = Authenticated | Refused

/** What a request has left of its limits, and whose it is or why it goes no further. */
export type GateResult = Admitted | Refused

interface Admitted extends Authenticated {
  readonly windowStatus: WindowStatus
  readonly limited?: never
}

/** Of a request that needs no key. */
export interface AdmittedWithoutKey {
  readonly windowStatus: WindowStatus
  readonly keyId?: never
  readonly limited?: never
}

export interface Refused {
  readonly windowStatus: WindowStatus
  readonly error: unknown
  readonly headers: Readonly<Record<string, string>>
  /** Whose request was refused, where it had a valid key. */
  readonly keyId?: string
  readonly limited?: Limited
}

type Credentials =
  | { readonly secret: string; readonly hash: string }
  | { readonly missing: string; readonly sentToken: boolean }

/** A connection has the same headers again and again: what they hold is found out once. */
const credentials = new WeakMap<RequestHeaders, Credentials>()

/** RFC 6750: the error code only where a bearer token was sent. */
const WRONG_TOKEN = 'Bearer realm="petstore", error="invalid_token"'
const NO_TOKEN = 'Bearer realm="petstore"'

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i

/**
 * Identifies the key of a request. Counts a request without a valid key by its address. Never throws or rejects. A valid key
 * never depends on that count: an address over its limit still gets every secret looked up whose hash is known, and only
 * guesses are refused without a lookup.
 */
export function identify(parts: GateParts, headers: RequestHeaders, client: Client): MaybePromise<Identity> {
  const { keys, demoSecrets, addresses } = parts
  const sent = credentialsIn(headers)
  if ('missing' in sent) return refuseUnauthenticated(parts, client, sent.missing, sent.sentToken)
  const { secret, hash } = sent
  const known = keys.findCached(hash)
  if (known !== undefined) return identityOf(parts, client, known, hash)
  if (!isWellFormedSecret(secret) && !demoSecrets.has(secret)) {
    return refuseUnauthenticated(parts, client, 'the API key is not valid: it is mistyped or cut off')
  }
  const mayLookUp = keys.hasHash(hash) || addresses.status(client.clientAddress()).refused === undefined
  if (mayLookUp) return lookUp(parts, hash, client)
  // The key may have been created a moment ago.
  return andThen(
    keys.refresh(),
    () => (keys.hasHash(hash) ? lookUp(parts, hash, client) : refuseUnknown(parts, client)),
    (failure): Identity => notAsked(parts, failure, client),
  )
}

function lookUp(parts: GateParts, hash: string, client: Client): MaybePromise<Identity> {
  return andThen(
    parts.keys.find(hash),
    (found): Identity =>
      found === undefined ? refuseUnknown(parts, client) : identityOf(parts, client, found, hash),
    (failure): Identity => notAsked(parts, failure, client),
  )
}

/** Is it within its limits? Counts the request by its key. Never throws or rejects. */
export function admit(
  parts: GateParts,
  identity: Identity,
  client: Client,
  arrival: Arrival,
): MaybePromise<GateResult> {
  if ('error' in identity) return identity
  const { key, secretHash } = identity
  return andThen(
    parts.limits.admit(key.id, key.limits, arrival),
    (admission): GateResult =>
      admission.refused === undefined
        ? { windowStatus: admission, key, secretHash }
        : refuseLimited(admission, admission.refused, key.id),
    (failure) => notAsked(parts, failure, client),
  )
}

/** Is an address within its limit? Counts a request that comes without a key. */
export function admitByAddress({ addresses }: GateParts, client: Client): AdmittedWithoutKey | Refused {
  const admission = addresses.admit(client.clientAddress())
  return admission.refused === undefined
    ? { windowStatus: admission }
    : refuseLimited(admission, admission.refused)
}

/** What is no request has no key either: it is counted by its address. One connection too many has not sent anything. */
export function refuseMalformed(parts: GateParts, problem: RequestProblem, client: Client): Refused {
  return problem.kind === 'too_many_connections'
    ? notAsked(parts, problem, client)
    : refuseByAddress(parts, client, problem, {})
}

function credentialsIn(headers: RequestHeaders): Credentials {
  let sent = credentials.get(headers)
  if (sent === undefined) {
    sent = readCredentials(headers.get('authorization'))
    credentials.set(headers, sent)
  }
  return sent
}

function readCredentials(authorization: string | null): Credentials {
  if (authorization === null) return { missing: 'the API key is missing', sentToken: false }
  const secret = BEARER.exec(authorization)?.[1]
  if (secret !== undefined) return { secret, hash: hashSecret(secret) }
  return {
    missing: 'the Authorization header does not hold a bearer key',
    sentToken: /^bearer\b/i.test(authorization),
  }
}

function identityOf(parts: GateParts, client: Client, key: ApiKey, secretHash: string): Identity {
  const state = keyState(key, parts.clock())
  return state === 'active'
    ? { key, secretHash }
    : refuseUnauthenticated(parts, client, `the API key is ${state}`)
}

/** Nobody could tell whose it was, or what is left of its limits: it is not counted. */
function notAsked({ addresses }: GateParts, error: unknown, client: Client): Refused {
  return { windowStatus: addresses.status(client.clientAddress()), error, headers: {} }
}

function refuseUnknown(parts: GateParts, client: Client): Refused {
  return refuseUnauthenticated(parts, client, 'the API key is not known here')
}

function refuseUnauthenticated(parts: GateParts, client: Client, reason: string, sentToken = true): Refused {
  const advice = 'send "Authorization: Bearer <API_KEY>" with a valid key'
  return refuseByAddress(parts, client, new ServiceError('unauthorized', `${reason}; ${advice}`), {
    'WWW-Authenticate': sentToken ? WRONG_TOKEN : NO_TOKEN,
  })
}

function refuseByAddress(
  parts: GateParts,
  client: Client,
  error: unknown,
  headers: Refused['headers'],
): Refused {
  const admission = admitByAddress(parts, client)
  return 'error' in admission ? admission : { windowStatus: admission.windowStatus, error, headers }
}

function refuseLimited(admission: Admission, code: Refusal, keyId?: string): Refused {
  const seconds = Math.max(1, Math.ceil((admission.resetAt - admission.at) / SECOND))
  const what =
    code === 'key_banned'
      ? 'this API key is banned for a while, because it went on sending after its limit was exceeded'
      : `the limit of ${admission.limit} requests is exceeded`
  return {
    windowStatus: admission,
    error: new ServiceError(code, `${what}; wait ${seconds} s before the next request`),
    headers: { 'Retry-After': String(seconds) },
    ...(keyId === undefined ? {} : { keyId }),
    limited: {
      reason: keyId === undefined ? 'anonymous' : code,
      beginsBan: admission.beginsBan === true,
    },
  }
}
