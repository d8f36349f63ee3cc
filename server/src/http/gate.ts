import type { RequestHeaders } from '@petstore/wire'
import { type ApiKey, hashSecret, isWellFormedSecret, keyState } from '../core/keys/api-key.ts'
import type { KeyRing } from '../core/keys/key-ring.ts'
import type { AddressWindows } from '../core/limits/address-windows.ts'
import type { LimitKeeper } from '../core/limits/limit-store.ts'
import type { Admission, WindowStatus } from '../core/limits/rate-windows.ts'
import { type Clock, SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { MaybePromise } from '../core/values/maybe-promise.ts'
import type { Limited } from './finished-request.ts'

export interface GateParts {
  readonly keys: KeyRing
  readonly limits: LimitKeeper
  readonly addresses: AddressWindows
  readonly clock: Clock
  /** Secrets that are accepted though they do not have the form of a key: those of the demo. */
  readonly demoSecrets: ReadonlySet<string>
}

/** Whose request it is, or why it goes no further; and how its limits stand either way. */
export type Passage =
  | { readonly standing: WindowStatus; readonly key: ApiKey; readonly secretHash: string }
  | Refusal

export interface Refusal {
  readonly standing: WindowStatus
  readonly refusal: unknown
  /** Whose request was refused, where it had a valid key. */
  readonly keyId?: string
  readonly limited?: Limited
  readonly refusalHeaders: Readonly<Record<string, string>>
}

interface Stranger {
  readonly stranger: string
  readonly sentToken: boolean
}

type Identity =
  | { readonly key: ApiKey; readonly secretHash: string }
  | Stranger
  | { readonly failure: unknown }

/** What the headers of a request say of its sender. */
type Claim = { readonly secret: string; readonly hash: string } | Stranger

/** A connection has the same headers again and again: what they say is found out once. */
const claims = new WeakMap<RequestHeaders, Claim>()

/** RFC 6750: the error code only where a bearer token was sent. */
const WRONG_TOKEN = 'Bearer realm="petstore", error="invalid_token"'
const NO_TOKEN = 'Bearer realm="petstore"'

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i

/** Whoever sent the request. */
export interface Sender {
  clientAddress(): string
}

/** Who is it, and is it within its limits? */
export function passGate(parts: GateParts, headers: RequestHeaders, sender: Sender): MaybePromise<Passage> {
  const identity = identify(parts, claimIn(headers))
  return identity instanceof Promise
    ? identity.then((who) => decide(parts, who, sender))
    : decide(parts, identity, sender)
}

/** What is no request has no key either: it is counted by its address. */
export function refuseMalformed({ addresses }: GateParts, problem: string, sender: Sender): Refusal {
  const admission = addresses.admit(sender.clientAddress())
  if (admission.refused !== undefined) return refusedPassage(admission, admission.refused, undefined)
  return {
    standing: admission,
    refusal: new ServiceError('invalid_request', problem),
    refusalHeaders: {},
  }
}

function decide(parts: GateParts, who: Identity, sender: Sender): MaybePromise<Passage> {
  if ('failure' in who) return failedPassage(parts, who.failure, sender)
  if ('stranger' in who) return strangerPassage(parts, who, sender)
  const admission = parts.limits.admit(who.key.id, who.key.limits)
  if (!(admission instanceof Promise)) return keyPassage(who, admission)
  return admission.then(
    (decided) => keyPassage(who, decided),
    (failure) => failedPassage(parts, failure, sender),
  )
}

function failedPassage({ addresses }: GateParts, refusal: unknown, sender: Sender): Passage {
  return { standing: addresses.standing(sender.clientAddress()), refusal, refusalHeaders: {} }
}

function keyPassage(who: Extract<Identity, { key: ApiKey }>, admission: Admission): Passage {
  return admission.refused === undefined
    ? { standing: admission, key: who.key, secretHash: who.secretHash }
    : refusedPassage(admission, admission.refused, who.key.id)
}

function strangerPassage(
  { addresses }: GateParts,
  { stranger, sentToken }: Stranger,
  sender: Sender,
): Passage {
  const admission = addresses.admit(sender.clientAddress())
  if (admission.refused !== undefined) return refusedPassage(admission, admission.refused, undefined)
  return {
    standing: admission,
    refusal: unauthorized(stranger),
    refusalHeaders: { 'WWW-Authenticate': sentToken ? WRONG_TOKEN : NO_TOKEN },
  }
}

function claimIn(headers: RequestHeaders): Claim {
  let claim = claims.get(headers)
  if (claim === undefined) {
    claim = readClaim(headers.get('authorization'))
    claims.set(headers, claim)
  }
  return claim
}

function readClaim(authorization: string | null): Claim {
  if (authorization === null) return { stranger: 'the API key is missing', sentToken: false }
  const secret = BEARER.exec(authorization)?.[1]
  if (secret !== undefined) return { secret, hash: hashSecret(secret) }
  return {
    stranger: 'the Authorization header does not hold a bearer key',
    sentToken: /^bearer\b/i.test(authorization),
  }
}

function identify(parts: GateParts, claim: Claim): MaybePromise<Identity> {
  if ('stranger' in claim) return claim
  const { secret, hash } = claim
  const known = parts.keys.known(hash)
  if (known !== undefined) return standingKey(known, hash, parts.clock())
  if (!isWellFormedSecret(secret) && !parts.demoSecrets.has(secret)) {
    return wrongKey('the API key is not valid: it is mistyped or cut off')
  }
  return parts.keys.find(hash).then(
    (found): Identity =>
      found === undefined
        ? wrongKey('the API key is not known here')
        : standingKey(found, hash, parts.clock()),
    (failure: unknown): Identity => ({ failure }),
  )
}

function standingKey(key: ApiKey, secretHash: string, now: number): Identity {
  const state = keyState(key, now)
  return state === 'active' ? { key, secretHash } : wrongKey(`the API key is ${state}`)
}

function wrongKey(stranger: string): Stranger {
  return { stranger, sentToken: true }
}

function unauthorized(reason: string): ServiceError {
  const advice = 'send "Authorization: Bearer <API_KEY>" with a valid key'
  return new ServiceError('unauthorized', `${reason}; ${advice}`)
}

function refusedPassage(
  admission: Admission,
  refused: NonNullable<Admission['refused']>,
  keyId: string | undefined,
): Refusal {
  const seconds = Math.max(1, Math.ceil((admission.resetAt - admission.at) / SECOND))
  const what =
    refused === 'key_banned'
      ? 'this API key is banned for a while, because it went on sending after its limit was exceeded'
      : `the limit of ${admission.limit} requests is exceeded`
  return {
    standing: admission,
    ...(keyId === undefined ? {} : { keyId }),
    limited: {
      reason: keyId === undefined ? 'anonymous' : refused,
      beginsBan: admission.beginsBan === true,
    },
    refusal: new ServiceError(refused, `${what}; wait ${seconds} s before the next request`),
    refusalHeaders: { 'Retry-After': String(seconds) },
  }
}
