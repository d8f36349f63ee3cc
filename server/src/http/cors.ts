// Cross-origin requests, as https://fetch.spec.whatwg.org/#http-cors-protocol has them: which pages of others may read our answers.
import type { HttpRequest } from '@petstore/wire'
import { headerLines } from '@petstore/wire'
import type { Reply } from './reply.ts'

/** The origins whose pages may call the interface; `*` alone is all of them. */
export type CorsOrigins = ReadonlySet<string>

const ALLOWED_HEADERS = [
  ...['Authorization', 'Content-Type', 'If-Match', 'If-None-Match', 'Idempotency-Key', 'Last-Event-ID'],
  ...['X-Request-Id', 'traceparent', 'tracestate'],
].join(', ')

/** What a page may read beside the few headers that every page may. */
const EXPOSED = headerLines({
  'Access-Control-Expose-Headers': [
    ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After', 'Date'],
    ...['ETag', 'Location', 'Link', 'Idempotency-Replayed', 'Deprecation', 'Sunset'],
    ...['WWW-Authenticate', 'X-Request-Id', 'traceresponse'],
  ].join(', '),
})

/** For so long a browser need not ask again; Chromium takes no longer time. */
const PREFLIGHT_SECONDS = 7_200

const ANY_ORIGIN = `Access-Control-Allow-Origin: *\r\n${EXPOSED}`
/** Caches must not give one page what was allowed to another. */
const DEPENDS_ON_ORIGIN = 'Vary: Origin\r\n'

/** What every answer of the interface says to browsers. A key goes in a header, so cookies are never asked for. */
export function corsLines(origins: CorsOrigins, origin: string | null): string {
  if (origins.has('*')) return ANY_ORIGIN
  // What is in the set is a checked setting, and fits on a line.
  return origin !== null && origins.has(origin)
    ? `Access-Control-Allow-Origin: ${origin}\r\n${EXPOSED}${DEPENDS_ON_ORIGIN}`
    : DEPENDS_ON_ORIGIN
}

/** Whether a browser asks what a page may send, on behalf of one that may call. */
export function isPreflight(origins: CorsOrigins, { method, headers }: HttpRequest): boolean {
  if (method !== 'OPTIONS' || headers.get('access-control-request-method') === null) return false
  const origin = headers.get('origin')
  return origin !== null && (origins.has('*') || origins.has(origin))
}

/** Without methods where the path does not exist: a GET may be sent all the same, and learns that. */
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
