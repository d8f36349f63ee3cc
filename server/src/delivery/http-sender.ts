import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type Clock, SECOND } from '../core/values/clock.ts'
import { formatTraceContext, newTrace } from '../core/values/trace-context.ts'
import { VERSION } from '../core/values/version.ts'
import { RESPONSE_TIMEOUT_SECONDS } from '../core/webhooks/webhook.ts'
import type {
  CheckedUrl,
  Message,
  SendPermit,
  SendResult,
  WebhookSender,
} from '../core/webhooks/webhook-store.ts'
import {
  checkUrl,
  findAddresses,
  type HostAddresses,
  hostOf,
  type Lookup,
  type Refusal,
} from './addresses.ts'
import { signaturesOf } from './message.ts'

const BODY_TIMEOUT_MS = 1_000
const MAX_RESPONSE_BYTES = 1_024
const LOOKUP_TIMEOUT_MS = 5_000
const LOOKUP_CACHED_MS = 30_000
const RETRY_AFTER_STATUSES = [429, 503]
/** For requests whose connection must go to the address itself, whatever HTTP_PROXY says. Bun's types lack this option. */
export const WITHOUT_PROXY: object = { proxy: false }

interface HttpSenderOptions {
  readonly allowsPrivate: boolean
  readonly clock: Clock
  /** The system's resolver by default. */
  readonly lookup?: Lookup | undefined
}

/**
 * Sends webhook messages over HTTP. The connection goes to exactly the address that was looked up and checked, so that DNS
 * rebinding cannot redirect it to another host. The certificate must be valid for the host name.
 */
export class HttpSender implements WebhookSender {
  readonly #options: HttpSenderOptions
  readonly #lookup: Lookup
  #attempts = 0
  readonly #addressCache = new Map<
    string,
    { readonly addresses: readonly string[]; readonly expiresAt: number }
  >()

  constructor(options: HttpSenderOptions) {
    this.#options = options
    this.#lookup = withTimeout(options.lookup ?? lookUpWithSystem)
  }

  async checkUrl(text: string): Promise<CheckedUrl> {
    const { allowsPrivate } = this.#options
    const urlCheck = checkUrl(text, allowsPrivate)
    if (urlCheck.type === 'refused') return { url: text, urlProblem: urlCheck.problem }
    const url = urlCheck.url.href
    // If private addresses are allowed, the host is not looked up, because it may not exist yet.
    if (allowsPrivate) return { url }
    const hostCheck = await findAddresses(hostOf(urlCheck.url), this.#lookup, allowsPrivate)
    return hostCheck.type === 'refused' ? { url, urlProblem: hostCheck.problem } : { url }
  }

  async send(
    url: string,
    secrets: readonly string[],
    message: Message,
    permit: SendPermit,
  ): Promise<SendResult | undefined> {
    const startedAt = performance.now()
    const result = await this.#attempt(url, secrets, message, permit)
    return result && { ...result, durationMs: performance.now() - startedAt }
  }

  async #attempt(
    urlText: string,
    secrets: readonly string[],
    message: Message,
    permit: SendPermit,
  ): Promise<Omit<SendResult, 'durationMs'> | undefined> {
    const urlCheck = checkUrl(urlText, this.#options.allowsPrivate)
    if (urlCheck.type === 'refused') return { response: '', error: `the url ${urlCheck.problem}` }
    const { url } = urlCheck
    const hostCheck = await this.#findAddressesWithCache(hostOf(url))
    if (hostCheck.type === 'refused') return { response: '', error: `the url ${hostCheck.problem}` }
    try {
      const response = await this.#post(url, hostCheck.addresses, secrets, message, permit)
      if (response === undefined) return undefined
      const bodyStart = await readBodyStart(response)
      const { status } = response
      if (response.ok) return { status, response: bodyStart }
      const error = `the receiver answered ${status}`
      const retryAfterMs = retryAfterMsOf(response, this.#options.clock())
      return { status, response: bodyStart, error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
    } catch (error) {
      if (permit.signal?.aborted) return undefined
      // The cached addresses may be outdated.
      this.#addressCache.delete(hostOf(url))
      return { response: '', error: failureText(error) }
    }
  }

  /**
   * Tries the addresses until one of them responds. All of them share the timeout, which an address that drops packets
   * uses up, so each attempt starts with the next address. Returns undefined if the permit has ended.
   */
  async #post(
    url: URL,
    addresses: readonly string[],
    secrets: readonly string[],
    message: Message,
    permit: SendPermit,
  ): Promise<Response | undefined> {
    const timeout = AbortSignal.timeout(RESPONSE_TIMEOUT_SECONDS * SECOND)
    const signal = permit.signal === undefined ? timeout : AbortSignal.any([timeout, permit.signal])
    const first = this.#attempts++ % addresses.length
    let failure: unknown
    for (const address of [...addresses.slice(first), ...addresses.slice(0, first)]) {
      if (!(await permit.isValid())) return undefined
      try {
        return await fetch(withAddress(url, address), this.#requestOptions(url, secrets, message, signal))
      } catch (error) {
        failure = error
        if (signal.aborted) break
      }
    }
    throw failure
  }

  #requestOptions(
    url: URL,
    secrets: readonly string[],
    message: Message,
    signal: AbortSignal,
  ): BunFetchRequestInit {
    const timestampSeconds = Math.floor(this.#options.clock() / 1_000)
    const host = hostOf(url)
    return {
      method: 'POST',
      body: message.body,
      headers: {
        Host: url.host,
        'Content-Type': 'application/json',
        'User-Agent': `petstore-inventory/${VERSION}`,
        'Accept-Encoding': 'identity',
        traceparent: formatTraceContext(newTrace()),
        'webhook-id': message.id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signaturesOf(message, timestampSeconds, secrets),
      },
      ...WITHOUT_PROXY,
      redirect: 'manual',
      decompress: false,
      signal,
      ...(url.protocol === 'https:' && isIP(host) === 0 ? { tls: { serverName: host } } : {}),
    }
  }

  async #findAddressesWithCache(host: string): Promise<HostAddresses | Refusal> {
    const now = performance.now()
    const cached = this.#addressCache.get(host)
    if (cached !== undefined && cached.expiresAt > now)
      return { type: 'allowed', addresses: cached.addresses }
    const hostCheck = await findAddresses(host, this.#lookup, this.#options.allowsPrivate)
    for (const [name, { expiresAt }] of this.#addressCache)
      if (expiresAt <= now) this.#addressCache.delete(name)
    if (hostCheck.type === 'allowed') {
      this.#addressCache.set(host, { addresses: hostCheck.addresses, expiresAt: now + LOOKUP_CACHED_MS })
    }
    return hostCheck
  }
}

async function lookUpWithSystem(host: string): Promise<string[]> {
  return (await systemLookup(host, { all: true })).map(({ address }) => address)
}

function withTimeout(lookup: Lookup): Lookup {
  return (host) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>()
    const timer = setTimeout(() => reject(new Error('the lookup timed out')), LOOKUP_TIMEOUT_MS)
    lookup(host)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
    return promise
  }
}

/** The url with the host name replaced by its address. */
function withAddress(url: URL, address: string): string {
  const host = isIP(address) === 6 ? `[${address}]` : address
  const port = url.port === '' ? '' : `:${url.port}`
  return `${url.protocol}//${host}${port}${url.pathname}${url.search}`
}

/** Reads the first bytes of the body. Does not wait for a slow or long body, because only the status matters. */
async function readBodyStart(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const chunks: Uint8Array[] = []
  const timeout = setTimeout(() => void reader.cancel(), BODY_TIMEOUT_MS)
  try {
    for (let length = 0; length < MAX_RESPONSE_BYTES; ) {
      const { value } = await reader.read()
      if (value === undefined) break
      chunks.push(value)
      length += value.length
    }
  } catch {
    // The connection was lost; the bytes so far are kept.
  } finally {
    clearTimeout(timeout)
    void reader.cancel().catch(() => {})
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES)).replaceAll('\0', '')
}

/** Retry-After is a number of seconds or a date (RFC 9110, 10.2.3). */
function retryAfterMsOf({ status, headers }: Response, now: number): number | undefined {
  const text = headers.get('retry-after')
  if (text === null || !RETRY_AFTER_STATUSES.includes(status)) return undefined
  const delayMs = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isNaN(delayMs) ? undefined : Math.max(delayMs, 1_000)
}

function failureText(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return `the receiver did not answer within ${RESPONSE_TIMEOUT_SECONDS} s`
  }
  const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
  return `the receiver could not be reached${code}`
}
