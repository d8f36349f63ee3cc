// Cross-origin requests: https://fetch.spec.whatwg.org/#http-cors-protocol
import { type HttpRequest, headerLines } from '@petstore/wire'
import type { Reply } from './reply.ts'

/** The origins whose pages may call the API. `*` allows every origin. */
export type CorsOrigins = ReadonlySet<string>

const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'Last-Event-ID',
  'X-Request-Id',
  'traceparent',
  'tracestate',
].join(', ')

const EXPOSED_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'Retry-After',
  'Date',
  'ETag',
  'Location',
  'Link',
  'Event-Id',
  'Complete-Since',
  'Idempotency-Replayed',
  'Deprecation',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
  'traceresponse',
].join(', ')
const EXPOSE_HEADERS_LINE = headerLines({ 'Access-Control-Expose-Headers': EXPOSED_HEADERS })

/** How long browsers cache a preflight response. Chromium allows no more. */
const PREFLIGHT_SECONDS = 7_200

const ANY_ORIGIN = `Access-Control-Allow-Origin: *\r\n${EXPOSE_HEADERS_LINE}`
/** Caches must not reuse a response for a page of another origin. */
const VARY_ORIGIN = 'Vary: Origin\r\n'

/** The CORS headers of every API response. API keys are not cookies, so the response does not allow credentials. */
export function corsLines(origins: CorsOrigins, origin: string | null): string {
  if (origins.has('*')) return ANY_ORIGIN
  // The origins in the set are validated settings, so they contain no line break.
  return origin !== null && origins.has(origin)
    ? `Access-Control-Allow-Origin: ${origin}\r\n${EXPOSE_HEADERS_LINE}${VARY_ORIGIN}`
    : VARY_ORIGIN
}

export function isPreflight(origins: CorsOrigins, { method, headers }: HttpRequest): boolean {
  if (method !== 'OPTIONS' || headers.get('access-control-request-method') === null) return false
  const origin = headers.get('origin')
  return origin !== null && (origins.has('*') || origins.has(origin))
}

/** `methods` is `undefined` if the path does not exist. A browser may then still send a GET, which gets 404. */
export function preflightReply(methods: readonly string[] | undefined): Reply {
  return {
    status: 204,
    headers: {
      ...(methods === undefined ? {} : { 'Access-Control-Allow-Methods': methods.join(', ') }),
      'Access-Control-Allow-Headers': ALLOWED_HEADERS,
      'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
    },
    body: null,
  }
}
