import { WEBHOOK_TYPES, type WebhookPayload } from './contract-types.ts'
import { PetstoreError } from './errors.ts'
import { parseJson } from './json.ts'

/** An event of a type that this version of the client does not know. */
export interface UnknownWebhook {
  readonly type: 'unknown'
  /** The type as the service sent it. */
  readonly eventType: string
  /** The JSON text as it arrived. */
  readonly body: string
}

/** A verified delivery. Its `id` stays the same when the delivery is repeated. */
export type ReceivedWebhook = (WebhookPayload | UnknownWebhook) & { readonly id: string }

/** A `Headers` object, or a plain record such as Node's, with names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** How far the time of a delivery may be from the time of this machine, in either direction. */
const TOLERANCE_SECONDS = 5 * 60
const SECRET_PREFIX = /^whsec_/

/**
 * Returns the event of a delivery that the service signed with this secret in the last 5 minutes. Pass `body` exactly as
 * it arrived, and both secrets while you rotate them. Throws a PetstoreError `invalid_webhook` that says what is wrong:
 * respond with 400 and ignore the body.
 */
export function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array | ArrayBuffer,
  secret: string | readonly string[],
): Promise<ReceivedWebhook> {
  return verifyWebhookAt(Date.now(), headers, body, secret)
}

/** As `verifyWebhook`, at the given time in milliseconds since 1970. */
export async function verifyWebhookAt(
  now: number,
  headers: WebhookHeaders,
  body: string | Uint8Array | ArrayBuffer,
  secret: string | readonly string[],
): Promise<ReceivedWebhook> {
  const keys = (typeof secret === 'string' ? [secret] : secret).map(keyBytes)
  if (keys.length === 0) throw new TypeError('verifyWebhook needs at least one secret')
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = signaturesOf(headerOf(headers, 'webhook-signature'))
  requireRecent(timestamp, now)
  const received = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
  const signed = await new Blob([`${id}.${timestamp}.`, received]).arrayBuffer()
  const expected = await Promise.all(keys.map((key) => hmac(key, signed)))
  const isSigned = expected.map((one) => signatures.map((other) => isEqual(one, other)).includes(true))
  if (!isSigned.includes(true)) {
    throw invalid(
      'no signature matches the secret: check that it is the secret of this webhook, and that the body is the original, not parsed and serialized again',
    )
  }
  return { ...readPayload(received), id }
}

function keyBytes(secret: string): Uint8Array<ArrayBuffer> {
  const key = fromBase64(secret.replace(SECRET_PREFIX, ''))
  if (key === undefined || key.length === 0) {
    throw new TypeError('the secret must be "whsec_" and base64, as webhooks.create returned it')
  }
  return key
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : recordValue(headers, name)
  if (value === null || value === undefined || value === '') throw invalid(`the header ${name} is missing`)
  return value
}

function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}

function recordValue(headers: Exclude<WebhookHeaders, { get(name: string): string | null }>, name: string) {
  const value = Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1]
  // Repeated headers are equivalent to one with commas (RFC 9110, 5.3).
  return typeof value === 'object' ? value.join(', ') : value
}

/** The signatures of version 1; others are ignored. */
function signaturesOf(header: string): Uint8Array[] {
  return header.split(' ').flatMap((part) => {
    const [version, text = ''] = part.split(',')
    const signature = version === 'v1' ? fromBase64(text) : undefined
    return signature === undefined ? [] : [signature]
  })
}

function requireRecent(timestamp: string, now: number): void {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw invalid(`webhook-timestamp is not a time in seconds: "${timestamp.slice(0, 40)}"`)
  }
  const age = now / 1_000 - Number(timestamp)
  if (Math.abs(age) <= TOLERANCE_SECONDS) return
  const distance = age > 0 ? `${Math.round(age)} s ago` : `${Math.round(-age)} s in the future`
  throw invalid(
    `the delivery was signed ${distance} by the clock of this machine; up to ${TOLERANCE_SECONDS} s are accepted: either the clock is wrong, or this is a replay`,
  )
}

async function hmac(key: Uint8Array<ArrayBuffer>, data: ArrayBuffer): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, data))
}

/** Takes constant time, so that a signature cannot be guessed byte by byte. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0)
  return difference === 0
}

function readPayload(bytes: Uint8Array): WebhookPayload | UnknownWebhook {
  try {
    const body = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const payload = parseJson(body) as { readonly type?: unknown }
    const { type } = payload
    // The service signed it, so it follows the contract.
    if (typeof type === 'string') {
      return WEBHOOK_TYPES.has(type)
        ? (payload as WebhookPayload)
        : { type: 'unknown', eventType: type, body }
    }
  } catch (cause) {
    throw invalid('the signature is valid, but the body is not the JSON of the contract', cause)
  }
  throw invalid('the signature is valid, but the body has no type')
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function invalid(message: string, cause?: unknown): PetstoreError {
  return new PetstoreError('invalid_webhook', message, { cause })
}
