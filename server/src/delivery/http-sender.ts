import { lookup as systemLookup } from 'node:dns/promises'
import { connect, isIP } from 'node:net'
import type { Clock } from '../core/values/clock.ts'
import { formatTraceContext, newTrace } from '../core/values/trace-context.ts'
import { VERSION } from '../core/values/version.ts'
import type { Message, SendResult, WebhookSender } from '../core/webhooks/webhook-store.ts'
import { addressesOf, checkedUrl, hostOf, type Lookup } from './addresses.ts'
import { signatureOf } from './message.ts'

/** For the status of the response. */
const TIMEOUT_MS = 15_000
/** For one address, before the next one is tried. */
const CONNECT_TIMEOUT_MS = 3_000
const BODY_TIMEOUT_MS = 1_000
const MAX_RESPONSE_BYTES = 1_024
const LOOKUP_TIMEOUT_MS = 5_000
const LOOKUP_CACHED_MS = 30_000
const RETRY_AFTER_STATUSES = [429, 503]
/** Ignores HTTP_PROXY, because the connection must go to the checked address. Bun's types lack this option. */
const WITHOUT_PROXY: object = { proxy: false }

interface HttpSenderOptions {
  readonly allowsPrivate: boolean
  readonly clock: Clock
  /** The system's resolver by default. */
  readonly lookup?: Lookup | undefined
}

/**
 * Sends over HTTP. The connection goes to the very address that was looked up and checked, so that DNS rebinding cannot
 * redirect it to another host. The certificate must be valid for the host name.
 */
export class HttpSender implements WebhookSender {
  readonly #options: HttpSenderOptions
  readonly #lookup: Lookup
  readonly #cache = new Map<string, { readonly addresses: readonly string[]; readonly until: number }>()

  constructor(options: HttpSenderOptions) {
    this.#options = options
    this.#lookup = withTimeout(options.lookup ?? lookupOfSystem)
  }

  async problemOf(text: string): Promise<string | undefined> {
    const url = checkedUrl(text, this.#options.allowsPrivate)
    if (typeof url === 'string') return url
    // A private host name may become known later.
    if (this.#options.allowsPrivate) return undefined
    const addresses = await addressesOf(hostOf(url), this.#lookup, false)
    return typeof addresses === 'string' ? addresses : undefined
  }

  async send(text: string, secrets: readonly string[], message: Message): Promise<SendResult> {
    const startedAt = performance.now()
    const result = await this.#attempt(text, secrets, message)
    return { ...result, durationMs: performance.now() - startedAt }
  }

  async #attempt(
    text: string,
    secrets: readonly string[],
    message: Message,
  ): Promise<Omit<SendResult, 'durationMs'>> {
    const url = checkedUrl(text, this.#options.allowsPrivate)
    if (typeof url === 'string') return { response: '', error: `the url ${url}` }
    const addresses = await this.#addressesOf(hostOf(url))
    if (typeof addresses === 'string') return { response: '', error: `the url ${addresses}` }
    try {
      const answer = await this.#post(url, addresses, secrets, message)
      const response = await beginningOf(answer)
      const { status } = answer
      if (answer.ok) return { status, response }
      const error = `the receiver answered ${status}`
      const retryAfterMs = retryAfterOf(answer, this.#options.clock())
      return { status, response, error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
    } catch (error) {
      // The cached addresses may be outdated.
      this.#cache.delete(hostOf(url))
      return { response: '', error: failureText(error) }
    }
  }

  /** Tries the addresses in order until one responds. All of them share TIMEOUT_MS. */
  async #post(
    url: URL,
    addresses: readonly string[],
    secrets: readonly string[],
    message: Message,
  ): Promise<Response> {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const last = addresses.length - 1
    for (const [index, address] of addresses.entries()) {
      // An address that drops packets would use up the time of the addresses after it.
      if (index < last && !(await acceptsConnections(address, url, signal))) continue
      try {
        const answer = await fetch(withAddress(url, address), this.#request(url, secrets, message, signal))
        if (index > 0) this.#prefer(hostOf(url), address)
        return answer
      } catch (error) {
        if (index === last || signal.aborted) throw error
      }
    }
    throw new Error('#post was called without an address')
  }

  #request(url: URL, secrets: readonly string[], message: Message, signal: AbortSignal): BunFetchRequestInit {
    const seconds = Math.floor(this.#options.clock() / 1_000)
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
        'webhook-timestamp': String(seconds),
        'webhook-signature': signatureOf(message, seconds, secrets),
      },
      ...WITHOUT_PROXY,
      redirect: 'manual',
      decompress: false,
      signal,
      ...(url.protocol === 'https:' && isIP(host) === 0 ? { tls: { serverName: host } } : {}),
    }
  }

  /** Moves the address that responded to the front until the next lookup. */
  #prefer(host: string, address: string): void {
    const cached = this.#cache.get(host)
    if (cached === undefined) return
    const others = cached.addresses.filter((other) => other !== address)
    this.#cache.set(host, { addresses: [address, ...others], until: cached.until })
  }

  async #addressesOf(host: string): Promise<readonly string[] | string> {
    const now = performance.now()
    const cached = this.#cache.get(host)
    if (cached !== undefined && cached.until > now) return cached.addresses
    const addresses = await addressesOf(host, this.#lookup, this.#options.allowsPrivate)
    for (const [name, { until }] of this.#cache) if (until <= now) this.#cache.delete(name)
    if (typeof addresses !== 'string') this.#cache.set(host, { addresses, until: now + LOOKUP_CACHED_MS })
    return addresses
  }
}

/** Whether a connection to this address is accepted within CONNECT_TIMEOUT_MS. */
function acceptsConnections(address: string, { protocol, port }: URL, signal: AbortSignal): Promise<boolean> {
  const defaultPort = protocol === 'https:' ? 443 : 80
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host: address, port: port === '' ? defaultPort : Number(port) })
  const finish = (isAccepted: boolean) => {
    socket.destroy()
    resolve(isAccepted)
  }
  socket.setTimeout(CONNECT_TIMEOUT_MS, () => finish(false))
  socket.once('connect', () => finish(true))
  socket.once('error', () => finish(false))
  signal.addEventListener('abort', () => finish(false), { once: true })
  return promise
}

async function lookupOfSystem(host: string): Promise<string[]> {
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
  return `${url.protocol}//${host}${url.port === '' ? '' : `:${url.port}`}${url.pathname}${url.search}`
}

/** The first bytes of the body. Does not wait for a slow or long body, because only the status counts. */
async function beginningOf(answer: Response): Promise<string> {
  const reader = answer.body?.getReader()
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

/** Retry-After is in seconds or a date (RFC 9110, 10.2.3). */
function retryAfterOf({ status, headers }: Response, now: number): number | undefined {
  const text = headers.get('retry-after')
  if (text === null || !RETRY_AFTER_STATUSES.includes(status)) return undefined
  const until = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isNaN(until) ? undefined : Math.max(until, 1_000)
}

function failureText(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return `the receiver did not answer within ${TIMEOUT_MS / 1_000} s`
  }
  const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
  return `the receiver could not be reached${code}`
}
