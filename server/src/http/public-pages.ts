import type { HttpRequest } from '@petstore/wire'
import { ServiceError } from '../core/values/errors.ts'
import { jsonReply, methodNotAllowedReply, type Reply } from './reply.ts'
import { chosenCoding, conditional, contentHash, entityTag, matchesTag } from './representation.ts'

/** A page that needs no key, outside the base path of the API. */
export interface PublicPage {
  /** Its name in metrics and logs. */
  readonly name: string
  answer(request: HttpRequest): Promise<Reply>
}

export interface PublicPageParts {
  /** Called for the first request, when the service knows its own address. */
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

/** The smaller form first. */
const PAGE_CODINGS: readonly PageCoding[] = ['br', 'gzip']
const CACHE_FOR_A_YEAR = 'public, max-age=31536000, immutable'
/** Cached, but revalidated each time, because it names the assets of the newest build. */
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
export const SECURITY_HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const

/** A cached health check would be out of date. */
const NOT_CACHED = { 'Cache-Control': 'no-store' }

export function publicPages(parts: PublicPageParts): ReadonlyMap<string, PublicPage> {
  const { contract, checkReady, webPages } = parts
  let contractReply: ReturnType<typeof jsonReply> | undefined
  const alive = jsonReply({ status: 'ok' }, NOT_CACHED)
  const pages: Readonly<Record<string, (request: HttpRequest) => Promise<Reply>>> = {
    '/openapi.json': async (request) => {
      contractReply ??= jsonReply(contract())
      return conditional(contractReply, request)
    },
    '/healthz': async () => alive,
    '/readyz': async (request) => {
      await checkReady().catch((error: unknown) => {
        throw notReady(error, isFromThisMachine(request))
      })
      return jsonReply({ status: 'ready' }, NOT_CACHED)
    },
  }
  const named = Object.entries(pages).map(
    ([path, show]) => [path, { name: path.slice(1), answer: getOnly(show) }] as const,
  )
  return new Map([...Object.entries(webPages), ...named])
}

function getOnly(show: (request: HttpRequest) => Promise<Reply>): PublicPage['answer'] {
  return async (request) =>
    request.method === 'GET' || request.method === 'HEAD'
      ? show(request)
      : methodNotAllowedReply(request.method, ['GET', 'HEAD'])
}

/** The message of an error with a cause may name hosts and files, so only callers on this machine see it. */
function notReady(error: unknown, showsDetails: boolean): ServiceError {
  if (error instanceof ServiceError && (showsDetails || error.cause === undefined)) return error
  return new ServiceError('service_unavailable', 'the service is not ready', {
    cause: error instanceof ServiceError ? error.cause : error,
  })
}

const LOOPBACK = /^(?:127\.|::ffff:127\.|::1$)/i

/** A proxy on this machine forwards for callers elsewhere, so its requests do not count. */
function isFromThisMachine({ address, headers }: HttpRequest): boolean {
  return (
    LOOPBACK.test(address) && headers.get('x-forwarded-for') === null && headers.get('forwarded') === null
  )
}

/** Reads all files into memory. */
export async function webPages(files: readonly WebFile[]): Promise<Readonly<Record<string, PublicPage>>> {
  const pages: Record<string, PublicPage> = {}
  for (const file of files) {
    const { path, isHashed } = file
    // Metrics have one series per name, so all assets share a name.
    const name = isHashed ? 'asset' : path === '/' ? 'staff-page' : path.slice(1)
    pages[path] = { name, answer: getOnly(await fileReply(file)) }
    if (!isHashed && path !== '/') pages[`${path}/`] = pages[path]
  }
  return pages
}

/** Serves from memory, so a new build does not change the files of a running service. */
async function fileReply({
  type,
  isHashed,
  forms,
}: WebFile): Promise<(request: HttpRequest) => Promise<Reply>> {
  const identity = await forms.identity.bytes()
  const compressed = new Map<PageCoding, Uint8Array>()
  for (const coding of PAGE_CODINGS) {
    const form = forms[coding]
    if (form !== undefined) compressed.set(coding, await form.bytes())
  }
  const codings = [...compressed.keys()]
  const tag = contentHash(identity)
  const common = {
    ...SECURITY_HEADERS,
    'Cache-Control': isHashed ? CACHE_FOR_A_YEAR : REVALIDATE,
    ...(codings.length === 0 ? {} : { Vary: 'Accept-Encoding' }),
  }
  return async ({ headers }) => {
    const coding = chosenCoding(codings, headers.get('accept-encoding'))
    const ETag = entityTag(tag, coding)
    if (matchesTag(headers.get('if-none-match'), ETag)) {
      return { status: 304, headers: { ...common, ETag }, body: null }
    }
    const fileHeaders = { ...common, 'Content-Type': type, ETag }
    const body = coding === undefined ? undefined : compressed.get(coding)
    return coding === undefined || body === undefined
      ? { status: 200, headers: fileHeaders, body: identity }
      : { status: 200, headers: { ...fileHeaders, 'Content-Encoding': coding }, body }
  }
}
