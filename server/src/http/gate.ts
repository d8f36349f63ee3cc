import type { AddressWindows } from '../core/address-windows.ts'
import { type ApiKey, hashSecret, isWellFormedSecret, keyState } from '../core/api-key.ts'
import { type Clock, SECOND } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { type Eventually, whenHere } from '../core/eventually.ts'
import type { Limited } from '../core/finished-request.ts'
import type { KeyRing } from '../core/key-ring.ts'
import type { LimitKeeper } from '../core/limit-keeper.ts'
import type { Admission, Standing } from '../core/rate-windows.ts'

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
  | { readonly standing: Standing; readonly key: ApiKey; readonly secretHash: string }
  | {
      readonly standing: Standing
      readonly refusal: unknown
      /** Whose request was refused, where it had a valid key. */
      readonly keyId?: string
      readonly limited?: Limited
      readonly refusalHeaders: Readonly<Record<string, string>>
    }

type Identity =
  | { readonly key: ApiKey; readonly secretHash: string }
  | { readonly stranger: string }
  | { readonly failure: unknown }

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i

/** Who is it, and is it within its limits? */
export function passGate(
  parts: GateParts,
  authorization: string | null,
  address: () => string,
): Eventually<Passage> {
  return whenHere(identify(parts, authorization), (who) => decide(parts, who, authorization, address))
}

function decide(
  parts: GateParts,
  who: Identity,
  authorization: string | null,
  address: () => string,
): Eventually<Passage> {
  const failed = (failure: unknown): Passage => ({
    standing: parts.addresses.standing(address()),
    refusal: failure,
    refusalHeaders: {},
  })
  if ('failure' in who) return failed(who.failure)
  if ('stranger' in who) return strangerPassage(parts, who.stranger, authorization, address())
  const admission = parts.limits.admit(who.key.id, who.key.limits)
  return admission instanceof Promise
    ? admission.then((decided) => keyPassage(who, decided), failed)
    : keyPassage(who, admission)
}

function keyPassage(who: Extract<Identity, { key: ApiKey }>, admission: Admission): Passage {
  return admission.refused === undefined
    ? { standing: admission, key: who.key, secretHash: who.secretHash }
    : refusedPassage(admission, admission.refused, who.key.id)
}

function strangerPassage(
  { addresses }: GateParts,
  stranger: string,
  authorization: string | null,
  address: string,
): Passage {
  const admission = addresses.admit(address)
  if (admission.refused !== undefined) return refusedPassage(admission, admission.refused, undefined)
  return {
    standing: admission,
    refusal: unauthorized(stranger),
    refusalHeaders: { 'WWW-Authenticate': challenge(authorization) },
  }
}

function identify(parts: GateParts, authorization: string | null): Eventually<Identity> {
  if (authorization === null) return { stranger: 'the API key is missing' }
  const secret = BEARER.exec(authorization)?.[1]
  if (secret === undefined) return { stranger: 'the Authorization header does not hold a bearer key' }
  const hash = hashSecret(secret)
  const known = parts.keys.known(hash)
  if (known !== undefined) return standingKey(known, hash, parts.clock())
  if (!isWellFormedSecret(secret) && !parts.demoSecrets.has(secret)) {
    return { stranger: 'the API key is not valid: it is mistyped or cut off' }
  }
  return parts.keys.find(hash).then(
    (found): Identity =>
      found === undefined
        ? { stranger: 'the API key is not known here' }
        : standingKey(found, hash, parts.clock()),
    (failure: unknown): Identity => ({ failure }),
  )
}

function standingKey(key: ApiKey, secretHash: string, now: number): Identity {
  const state = keyState(key, now)
  return state === 'active' ? { key, secretHash } : { stranger: `the API key is ${state}` }
}

function unauthorized(reason: string): ServiceError {
  const advice = 'send "Authorization: Bearer <API_KEY>" with a valid key'
  return new ServiceError('unauthorized', `${reason}; ${advice}`)
}

/** RFC 6750: the error code only where a bearer token was sent. */
function challenge(authorization: string | null): string {
  const sentToken = authorization !== null && /^bearer\b/i.test(authorization)
  return sentToken ? 'Bearer realm="petstore", error="invalid_token"' : 'Bearer realm="petstore"'
}

function refusedPassage(
  admission: Admission,
  refused: NonNullable<Admission['refused']>,
  keyId: string | undefined,
): Passage {
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
