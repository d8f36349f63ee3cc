import { lookup as systemLookup } from 'node:dns/promises'
import { connect, isIP } from 'node:net'
import type { Clock } from '../core/values/clock.ts'
import { newTrace, traceText } from '../core/values/trace-context.ts'
import { VERSION } from '../core/values/version.ts'
import type { Message, SendResult, WebhookSender } from '../core/webhooks/sender.ts'
import { addressesOf, checkedUrl, hostOf, type Lookup } from './addresses.ts'
import { signatureOf } from './message.ts'

/** How long a receiver may take to answer. */
const TIMEOUT_MS = 15_000
/** How long an address may take to accept a connection before the next one is tried. */
const CONNECT_TIMEOUT_MS = 3_000
/** And how long for what it says beside its status. */
const BODY_PATIENCE_MS = 1_000
/** What is kept of an answer. */
const MAX_RESPONSE_BYTES = 1_024
/** How long it may take to look a name up, and how long it stays what it was then. */
const LOOKUP_TIMEOUT_MS = 5_000
const LOOKED_UP_MS = 30_000
const RETRY_LATER = [429, 503]
/** Whatever proxy the environment names: the connection goes to the address that was looked at. Bun's types lack it. */
const DIRECT: object = { proxy: false }

export interface HttpSenderOptions {
  readonly allowsPrivate: boolean
  readonly clock: Clock
  /** The system's where none is given. */
  readonly lookup?: Lookup | undefined
}

type Found = Awaited<ReturnType<typeof addressesOf>>

/**
 * Sends over HTTP. A name is looked up here and the connection goes to the very address that was looked at, so that a
 * name that is another host's a moment later leads nowhere else; the certificate has to be that of the name.
 */
export class HttpSender implements WebhookSender {
  readonly #options: HttpSenderOptions
  readonly #lookup: Lookup
  readonly #known = new Map<string, { readonly found: Found; readonly until: number }>()

  constructor(options: HttpSenderOptions) {
    this.#options = options
    this.#lookup = withTimeout(options.lookup ?? lookUp)
  }

  async problemOf(text: string): Promise<string | undefined> {
    const url = checkedUrl(text, this.#options.allowsPrivate)
    if (typeof url === 'string') return url
    // Where any address will do, its name may be known later.
    if (this.#options.allowsPrivate) return undefined
    const found = await addressesOf(hostOf(url), this.#lookup, false)
    return typeof found === 'string' ? found : undefined
  }

  async send(text: string, secrets: readonly string[], message: Message): Promise<SendResult> {
    const began = performance.now()
    const done = (result: Omit<SendResult, 'durationMs'>) => ({
      ...result,
      durationMs: performance.now() - began,
    })
    const url = checkedUrl(text, this.#options.allowsPrivate)
    if (typeof url === 'string') return done({ response: '', error: `the url ${url}` })
    const found = await this.#addressesOf(hostOf(url))
    if (typeof found === 'string') return done({ response: '', error: `the url ${found}` })
    try {
      const answer = await this.#post(url, found, secrets, message)
      const response = await beginningOf(answer)
      const { status } = answer
      if (answer.ok) return done({ status, response })
      const retryAfterMs = retryAfterOf(answer, this.#options.clock())
      return done({
        ...{ status, response, error: `the receiver answered ${status}` },
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      })
    } catch (error) {
      // What was looked up may have been the trouble.
      this.#known.delete(hostOf(url))
      return done({ response: '', error: troubleText(error) })
    }
  }

  /** Tries the addresses in order until one answers. All of them share TIMEOUT_MS. */
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
        const answer = await fetch(addressed(url, address), this.#request(url, secrets, message, signal))
        if (index > 0) this.#prefer(hostOf(url), address)
        return answer
      } catch (error) {
        if (index === last || signal.aborted) throw error
      }
    }
    throw new Error('a receiver has no address')
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
        traceparent: traceText(newTrace()),
        'webhook-id': message.id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signatureOf(message, seconds, secrets),
      },
      ...DIRECT,
      redirect: 'manual',
      decompress: false,
      signal,
      ...(url.protocol === 'https:' && isIP(host) === 0 ? { tls: { serverName: host } } : {}),
    }
  }

  /** Moves the address that answered to the front until the name is looked up again. */
  #prefer(host: string, address: string): void {
    const known = this.#known.get(host)
    if (known === undefined || typeof known.found === 'string') return
    const others = known.found.filter((other) => other !== address)
    this.#known.set(host, { found: [address, ...others], until: known.until })
  }

  async #addressesOf(host: string): Promise<Found> {
    const now = performance.now()
    const known = this.#known.get(host)
    if (known !== undefined && known.until > now) return known.found
    const found = await addressesOf(host, this.#lookup, this.#options.allowsPrivate)
    for (const [name, { until }] of this.#known) if (until <= now) this.#known.delete(name)
    if (typeof found !== 'string') this.#known.set(host, { found, until: now + LOOKED_UP_MS })
    return found
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

async function lookUp(host: string): Promise<string[]> {
  return (await systemLookup(host, { all: true })).map(({ address }) => address)
}

function withTimeout(lookup: Lookup): Lookup {
  return (host) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>()
    const timer = setTimeout(() => reject(new Error('the look-up took too long')), LOOKUP_TIMEOUT_MS)
    lookup(host)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
    return promise
  }
}

/** The same address with that of the host in the place of its name. */
function addressed(url: URL, address: string): string {
  const host = isIP(address) === 6 ? `[${address}]` : address
  return `${url.protocol}//${host}${url.port === '' ? '' : `:${url.port}`}${url.pathname}${url.search}`
}

/** What comes after it, or takes its time, is not waited for: what counts is the status, and that is known. */
async function beginningOf(answer: Response): Promise<string> {
  const reader = answer.body?.getReader()
  if (reader === undefined) return ''
  const chunks: Uint8Array[] = []
  const patience = setTimeout(() => void reader.cancel(), BODY_PATIENCE_MS)
  try {
    for (let length = 0; length < MAX_RESPONSE_BYTES; ) {
      const { value } = await reader.read()
      if (value === undefined) break
      chunks.push(value)
      length += value.length
    }
  } catch {
    // It broke off.
  } finally {
    clearTimeout(patience)
    void reader.cancel().catch(() => {})
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES)).replaceAll('\0', '')
}

/** In seconds or as a date (RFC 9110, 10.2.3); of those who say that they are busy. */
function retryAfterOf({ status, headers }: Response, now: number): number | undefined {
  const text = headers.get('retry-after')
  if (text === null || !RETRY_LATER.includes(status)) return undefined
  const until = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isNaN(until) ? undefined : Math.max(until, 1_000)
}

function troubleText(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return `no answer came within ${TIMEOUT_MS / 1_000} s`
  }
  const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
  return `the receiver could not be reached${code}`
}
