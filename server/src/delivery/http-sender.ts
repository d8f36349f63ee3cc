import { lookup as systemLookup } from 'node:dns/promises'
import { connect, isIP } from 'node:net'
import type { Clock } from '../core/values/clock.ts'
import { formatTraceContext, newTrace } from '../core/values/trace-context.ts'
import { VERSION } from '../core/values/version.ts'
import type { Message, SendResult, WebhookSender } from '../core/webhooks/webhook-store.ts'
import {
  checkUrl,
  findAddresses,
  type HostAddresses,
  hostOf,
  type Lookup,
  type Refusal,
} from './addresses.ts'
import { signaturesOf } from './message.ts'

/** From the first connection of an attempt until the status of the response has arrived. */
const RESPONSE_TIMEOUT_MS = 15_000
/** For one address; then the next address is tried. */
const CONNECT_TIMEOUT_MS = 3_000
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
  readonly #addressCache = new Map<
    string,
    { readonly addresses: readonly string[]; readonly expiresAt: number }
  >()

  constructor(options: HttpSenderOptions) {
    this.#options = options
    this.#lookup = withTimeout(options.lookup ?? lookUpWithSystem)
  }

  async problemOf(urlText: string): Promise<string | undefined> {
    const { allowsPrivate } = this.#options
    const urlCheck = checkUrl(urlText, allowsPrivate)
    if (urlCheck.type === 'refused') return urlCheck.problem
    // If private addresses are allowed, the host is not looked up, because it may not exist yet.
    if (allowsPrivate) return undefined
    const hostCheck = await findAddresses(hostOf(urlCheck.url), this.#lookup, allowsPrivate)
    return hostCheck.type === 'refused' ? hostCheck.problem : undefined
  }

  async send(urlText: string, secrets: readonly string[], message: Message): Promise<SendResult> {
    const startedAt = performance.now()
    const result = await this.#attempt(urlText, secrets, message)
    return { ...result, durationMs: performance.now() - startedAt }
  }

  async #attempt(
    urlText: string,
    secrets: readonly string[],
    message: Message,
  ): Promise<Omit<SendResult, 'durationMs'>> {
    const urlCheck = checkUrl(urlText, this.#options.allowsPrivate)
    if (urlCheck.type === 'refused') return { response: '', error: `the url ${urlCheck.problem}` }
    const { url } = urlCheck
    const hostCheck = await this.#findAddressesWithCache(hostOf(url))
    if (hostCheck.type === 'refused') return { response: '', error: `the url ${hostCheck.problem}` }
    try {
      const response = await this.#post(url, hostCheck.addresses, secrets, message)
      const bodyStart = await readBodyStart(response)
      const { status } = response
      if (response.ok) return { status, response: bodyStart }
      const error = `the receiver answered ${status}`
      const retryAfterMs = retryAfterMsOf(response, this.#options.clock())
      return { status, response: bodyStart, error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
    } catch (error) {
      // The cached addresses may be outdated.
      this.#addressCache.delete(hostOf(url))
      return { response: '', error: failureText(error) }
    }
  }

  /** Tries the addresses in order until one of them responds. All of them share RESPONSE_TIMEOUT_MS. */
  async #post(
    url: URL,
    addresses: readonly string[],
    secrets: readonly string[],
    message: Message,
  ): Promise<Response> {
    const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS)
    const lastIndex = addresses.length - 1
    for (const [index, address] of addresses.entries()) {
      // An address that drops packets would use up the time of the addresses after it.
      if (index < lastIndex && !(await acceptsConnections(address, url, signal))) continue
      try {
        const response = await fetch(
          withAddress(url, address),
          this.#requestOptions(url, secrets, message, signal),
        )
        if (index > 0) this.#prefer(hostOf(url), address)
        return response
      } catch (error) {
        if (index === lastIndex || signal.aborted) throw error
      }
    }
    throw new Error('a host without addresses must be refused before #post')
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

  /** Moves the address that responded to the front of the cached addresses. */
  #prefer(host: string, address: string): void {
    const cached = this.#addressCache.get(host)
    if (cached === undefined) return
    const others = cached.addresses.filter((other) => other !== address)
    this.#addressCache.set(host, { addresses: [address, ...others], expiresAt: cached.expiresAt })
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

/** Whether a connection to this address is accepted within CONNECT_TIMEOUT_MS and before the signal aborts. */
function acceptsConnections(address: string, { protocol, port }: URL, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
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
    return `the receiver did not answer within ${RESPONSE_TIMEOUT_MS / 1_000} s`
  }
  const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
  return `the receiver could not be reached${code}`
}
