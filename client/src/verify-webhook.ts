import { WEBHOOK_PAYLOADS, type WebhookPayload } from './contract-types.ts'
import { readExactly } from './exact-json.ts'
import { PetstoreError } from './petstore-error.ts'

/** A delivery that the service has sent; `type` tells of what, and `id` is the same each time it is repeated. */
export type ReceivedWebhook = WebhookPayload & { readonly id: string }

/** As a `Request` has them, or as a plain record with names in any case, such as Node's. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** The time in milliseconds; for tests. */
  readonly clock?: () => number
}

/** How far the time of a delivery may be from ours, before or after. */
const TOLERANCE_SECONDS = 5 * 60
const SECRET_PREFIX = /^whsec_/
const encoder = new TextEncoder()

/**
 * What a delivery tells, once it is sure that the service has sent it in the last 5 minutes: `body` exactly as it
 * arrived, text or bytes. While a secret is rotated, give both. Throws a PetstoreError `invalid_webhook` that says
 * what is wrong: answer 400 then, and do nothing of what the body says.
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array | ArrayBuffer,
  secret: string | readonly string[],
  { clock = Date.now }: VerifyOptions = {},
): Promise<ReceivedWebhook> {
  const keys = (typeof secret === 'string' ? [secret] : secret).map(keyBytes)
  if (keys.length === 0) throw new TypeError('verifyWebhook needs at least one secret')
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = signaturesOf(headerOf(headers, 'webhook-signature'))
  requireRecent(timestamp, clock())
  const received = typeof body === 'string' ? encoder.encode(body) : new Uint8Array(body)
  const signed = joined(encoder.encode(`${id}.${timestamp}.`), received)
  const expected = await Promise.all(keys.map((key) => hmac(key, signed)))
  const isSigned = expected.map((one) => signatures.map((other) => isSame(one, other)).includes(true))
  if (!isSigned.includes(true)) {
    throw invalid(
      'has no signature of this secret: check that it is the one of this webhook, and that the body is as it arrived, not parsed and written again',
    )
  }
  return { id, ...readPayload(received) }
}

function keyBytes(secret: string): Uint8Array<ArrayBuffer> {
  const key = fromBase64(secret.replace(SECRET_PREFIX, ''))
  if (key === undefined || key.length === 0) {
    throw new TypeError('the secret must be "whsec_" and base64, as createWebhook gave it')
  }
  return key
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : recordValue(headers, name)
  if (value === null || value === undefined || value === '') throw invalid(`has no header ${name}`)
  return value
}

function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}

function recordValue(headers: Exclude<WebhookHeaders, { get(name: string): string | null }>, name: string) {
  const value = Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1]
  // Several lines of one header are one with commas (RFC 9110, 5.3).
  return typeof value === 'object' ? value.join(', ') : value
}

/** Those of the version that we know, as bytes. */
function signaturesOf(header: string): Uint8Array[] {
  return header.split(' ').flatMap((part) => {
    const [version, text = ''] = part.split(',')
    const signature = version === 'v1' ? fromBase64(text) : undefined
    return signature === undefined ? [] : [signature]
  })
}

function requireRecent(timestamp: string, now: number): void {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw invalid(`has a webhook-timestamp that is no time in seconds: "${timestamp.slice(0, 40)}"`)
  }
  const age = now / 1_000 - Number(timestamp)
  if (Math.abs(age) <= TOLERANCE_SECONDS) return
  const when = age > 0 ? `${Math.round(age)} s ago` : `${Math.round(-age)} s from now`
  throw invalid(
    `was signed ${when} by the clock of this machine, and ${TOLERANCE_SECONDS} s are accepted: the clock is wrong, or somebody who recorded it sends it again`,
  )
}

async function hmac(key: Uint8Array<ArrayBuffer>, data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, data))
}

/** Takes the same time wherever they differ, so that nobody can find a signature byte by byte. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0)
  return difference === 0
}

function readPayload(bytes: Uint8Array): WebhookPayload {
  let type: unknown
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    type = (JSON.parse(text) as { readonly type?: unknown } | null)?.type
    if (isKnown(type)) return readExactly(text, WEBHOOK_PAYLOADS[type]) as WebhookPayload
  } catch (cause) {
    throw invalid('is signed, and not as the contract says', cause)
  }
  throw invalid(
    `tells of ${JSON.stringify(type)}, which this version of the client does not know: update it, and it comes again`,
  )
}

function isKnown(type: unknown): type is WebhookPayload['type'] {
  return typeof type === 'string' && Object.hasOwn(WEBHOOK_PAYLOADS, type)
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}

function invalid(what: string, cause?: unknown): PetstoreError {
  return new PetstoreError('invalid_webhook', what, { request: 'the delivery', cause })
}
