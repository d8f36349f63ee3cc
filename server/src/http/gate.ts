import type { AddressWindows } from '../core/address-windows.ts'
import { type ApiKey, hashSecret, isWellFormedSecret, keyState } from '../core/api-key.ts'
import { type Clock, SECOND } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import type { LimitLedger } from '../core/limit-ledger.ts'
import type { Admission, Standing } from '../core/rate-windows.ts'
import type { Store } from '../core/store.ts'

export interface GateParts {
  readonly store: Pick<Store, 'findKey'>
  readonly ledger: LimitLedger
  readonly addresses: AddressWindows
  readonly clock: Clock
  /** Secrets that are accepted though they do not have the form of a key: those of the demo. */
  readonly demoSecrets: ReadonlySet<string>
}

type LimitHeaders = Readonly<
  Record<'X-RateLimit-Limit' | 'X-RateLimit-Remaining' | 'X-RateLimit-Reset', string>
>

/** Whose request it is, or why it goes no further; and what to tell about limits either way. */
export type Passage =
  | { readonly limitHeaders: LimitHeaders; readonly key: ApiKey }
  | {
      readonly limitHeaders: LimitHeaders
      readonly refusal: unknown
      readonly refusalHeaders: Readonly<Record<string, string>>
    }

type Identity = { readonly key: ApiKey } | { readonly stranger: ServiceError } | { readonly failure: unknown }

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i

/** Who is it, and is it within its limits? */
export async function passGate(
  parts: GateParts,
  authorization: string | null,
  address: string,
): Promise<Passage> {
  const { addresses, ledger, clock } = parts
  const who = await identify(parts, authorization)
  if ('failure' in who) {
    return {
      limitHeaders: limitHeaders(addresses.standing(address)),
      refusal: who.failure,
      refusalHeaders: {},
    }
  }
  const admission = 'key' in who ? ledger.admit(who.key.id, who.key.limits) : addresses.admit(address)
  if (admission.refused !== undefined) return refusedPassage(admission, admission.refused, clock())
  if ('key' in who) return { limitHeaders: limitHeaders(admission), key: who.key }
  return {
    limitHeaders: limitHeaders(admission),
    refusal: who.stranger,
    refusalHeaders: { 'WWW-Authenticate': challenge(authorization) },
  }
}

async function identify(parts: GateParts, authorization: string | null): Promise<Identity> {
  if (authorization === null) return stranger('the API key is missing')
  const secret = BEARER.exec(authorization)?.[1]
  if (secret === undefined) return stranger('the Authorization header does not hold a bearer key')
  if (!isWellFormedSecret(secret) && !parts.demoSecrets.has(secret)) {
    return stranger('the API key is not valid: it is mistyped or cut off')
  }
  try {
    const key = await parts.store.findKey(hashSecret(secret))
    if (key === undefined) return stranger('the API key is not known here')
    const state = keyState(key, parts.clock())
    return state === 'active' ? { key } : stranger(`the API key is ${state}`)
  } catch (failure) {
    return { failure }
  }
}

function stranger(reason: string): Identity {
  const advice = 'send "Authorization: Bearer <API_KEY>" with a valid key'
  return { stranger: new ServiceError('unauthorized', `${reason}; ${advice}`) }
}

/** RFC 6750: the error code only where a bearer token was sent. */
function challenge(authorization: string | null): string {
  const sentToken = authorization !== null && /^bearer\b/i.test(authorization)
  return sentToken ? 'Bearer realm="petstore", error="invalid_token"' : 'Bearer realm="petstore"'
}

function refusedPassage(
  standing: Standing,
  refused: NonNullable<Admission['refused']>,
  now: number,
): Passage {
  const seconds = Math.max(1, Math.ceil((standing.resetAt - now) / SECOND))
  const what =
    refused === 'key_banned'
      ? 'this API key is banned for a while, because it went on sending after its limit was exceeded'
      : `the limit of ${standing.limit} requests is exceeded`
  return {
    limitHeaders: limitHeaders(standing),
    refusal: new ServiceError(refused, `${what}; wait ${seconds} s before the next request`),
    refusalHeaders: { 'Retry-After': String(seconds) },
  }
}

function limitHeaders(standing: Standing): LimitHeaders {
  return {
    'X-RateLimit-Limit': String(standing.limit),
    'X-RateLimit-Remaining': String(standing.remaining),
    'X-RateLimit-Reset': String(Math.ceil(standing.resetAt / SECOND)),
  }
}
