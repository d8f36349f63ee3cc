import type { HttpRequest } from '@petstore/wire'
import { ServiceError } from '../core/values/errors.ts'
import {
  chooseCoding,
  conditionalReply,
  contentHash,
  entityTag,
  jsonReply,
  matchesTag,
  NO_STORE,
  type Reply,
} from './reply.ts'

/** A page that needs no key, outside the base path of the API. */
export interface PublicPage {
  /** Its name in metrics and logs. */
  readonly name: string
  /** Called for GET and HEAD. */
  readonly answer: Responder
}

type Responder = (request: HttpRequest) => Promise<Reply>

export interface PublicPageParts {
  /** Builds the OpenAPI document. Called at the first request, when the service knows its own address. */
  readonly contract: () => unknown
  /** Rejects while the service cannot serve requests. */
  readonly checkReady: () => Promise<void>
  /** By path. */
  readonly webPages: Readonly<Record<string, PublicPage>>
}

type PageCoding = 'br' | 'gzip'

/** A page, or an asset of a page. */
export interface WebFile {
  readonly path: string
  readonly type: string
  /** The path contains a hash of the content, so the content never changes. */
  readonly isHashed: boolean
  readonly forms: { readonly identity: Blob } & { readonly [Coding in PageCoding]?: Blob }
}

/** In order of preference: brotli compresses better. */
const PAGE_CODINGS: readonly PageCoding[] = ['br', 'gzip']
const CACHE_FOR_A_YEAR = 'public, max-age=31536000, immutable'
/** A page may be cached but is revalidated each time, because it names the assets of the newest build. */
const REVALIDATE = 'no-cache'

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** The staff page holds a key, so no other site may run code in it, frame it or see its address. */
const SECURITY_HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(self), geolocation=(), microphone=(), payment=(), usb=()',
} as const

export function publicPages(parts: PublicPageParts): ReadonlyMap<string, PublicPage> {
  const { contract, checkReady, webPages } = parts
  let contractReply: ReturnType<typeof jsonReply> | undefined
  const aliveReply = jsonReply({ status: 'ok' }, NO_STORE)
  const responders: Readonly<Record<string, Responder>> = {
    '/openapi.json': async (request) => {
      contractReply ??= jsonReply(contract())
      return conditionalReply(contractReply, request)
    },
    '/healthz': async () => aliveReply,
    '/readyz': async (request) => {
      await checkReady().catch((error: unknown) => {
        throw notReady(error, isFromThisMachine(request))
      })
      return jsonReply({ status: 'ready' }, NO_STORE)
    },
  }
  const pages = new Map(Object.entries(webPages))
  for (const [path, answer] of Object.entries(responders)) pages.set(path, { name: path.slice(1), answer })
  return pages
}

/** The message of an error with a cause may name hosts and files, so only callers on this machine see that message. */
function notReady(error: unknown, showsDetails: boolean): ServiceError {
  if (error instanceof ServiceError && (showsDetails || error.cause === undefined)) return error
  return new ServiceError('service_unavailable', 'the service is not ready', {
    cause: error instanceof ServiceError ? error.cause : error,
  })
}

const LOOPBACK = /^(?:127\.|::ffff:127\.|::1$)/i

/**
 * A proxy on this machine forwards requests of other machines, so a forwarded request does not count as one from
 * this machine.
 */
function isFromThisMachine({ address, headers }: HttpRequest): boolean {
  return (
    LOOPBACK.test(address) && headers.get('x-forwarded-for') === null && headers.get('forwarded') === null
  )
}

/** Reads all files into memory. */
export async function loadWebPages(files: readonly WebFile[]): Promise<Readonly<Record<string, PublicPage>>> {
  const pages: Record<string, PublicPage> = {}
  for (const file of files) {
    const { path, isHashed } = file
    const page = { name: pageName(file), answer: await fileResponder(file) }
    pages[path] = page
    if (!isHashed && path !== '/') pages[`${path}/`] = page
  }
  return pages
}

/** All assets share a name, because each name is a series in the metrics. */
function pageName({ path, isHashed }: WebFile): string {
  if (isHashed) return 'asset'
  return path === '/' ? 'staff-page' : path.slice(1)
}

/** Reads the file once, so that a new build does not change the files of a running service. */
async function fileResponder({ type, isHashed, forms }: WebFile): Promise<Responder> {
  const identity = await forms.identity.bytes()
  const compressed = new Map<PageCoding, Uint8Array>()
  for (const coding of PAGE_CODINGS) {
    const form = forms[coding]
    if (form !== undefined) compressed.set(coding, await form.bytes())
  }
  const codings = [...compressed.keys()]
  const hash = contentHash(identity)
  const commonHeaders = {
    ...SECURITY_HEADERS,
    'Cache-Control': isHashed ? CACHE_FOR_A_YEAR : REVALIDATE,
    ...(codings.length === 0 ? {} : { Vary: 'Accept-Encoding' }),
  }
  return async ({ headers }) => {
    const coding = chooseCoding(codings, headers.get('accept-encoding'))
    const ETag = entityTag(hash, coding)
    if (matchesTag(headers.get('if-none-match'), ETag)) {
      return { status: 304, headers: { ...commonHeaders, ETag }, body: null }
    }
    const fileHeaders = { ...commonHeaders, 'Content-Type': type, ETag }
    const compressedBody = coding === undefined ? undefined : compressed.get(coding)
    if (coding === undefined || compressedBody === undefined) {
      return { status: 200, headers: fileHeaders, body: identity }
    }
    return { status: 200, headers: { ...fileHeaders, 'Content-Encoding': coding }, body: compressedBody }
  }
}
