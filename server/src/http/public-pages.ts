import type { HttpRequest } from '@petstore/wire'
import { ServiceError } from '../core/values/errors.ts'
import { jsonReply, methodNotAllowedReply, type Reply } from './reply.ts'
import { chosenCoding, conditional, contentHash, entityTag, matchesTag } from './representation.ts'

/** A page outside the base address that needs no key. */
export interface PublicPage {
  /** What metrics and logs call it. */
  readonly name: string
  answer(request: HttpRequest): Promise<Reply>
}

export interface PublicPageParts {
  /** Asked for once, when somebody wants to see it: the service knows its own address then. */
  readonly contract: () => unknown
  /** Throws while the service cannot do its work. */
  readonly checkReady: () => Promise<void>
  /** What browsers are shown, by path. */
  readonly webPages: Readonly<Record<string, PublicPage>>
}

type PageCoding = 'br' | 'gzip'

/** A file for browsers: a page, or what a page is made of. */
export interface WebFile {
  readonly path: string
  readonly type: string
  /** Whether its path names its content: then it never changes. */
  readonly isHashed: boolean
  readonly forms: { readonly identity: Blob } & { readonly [Coding in PageCoding]?: Blob }
}

/** Ours, the smaller one first. */
const OFFERED: readonly PageCoding[] = ['br', 'gzip']
const FOR_A_YEAR = 'public, max-age=31536000, immutable'
/** Kept, but asked about each time: it names the files of the newest build. */
const ASK_FIRST = 'no-cache'

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

/** A page holds a key: nothing foreign runs in it, frames it, or learns where it links from. */
export const SECURITY_HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const

/** A cached answer would tell how things were. */
const LIVE = { 'Cache-Control': 'no-store' }

export function publicPages(parts: PublicPageParts): ReadonlyMap<string, PublicPage> {
  const { contract, checkReady, webPages } = parts
  let contractReply: ReturnType<typeof jsonReply> | undefined
  const alive = jsonReply({ status: 'ok' }, LIVE)
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
      return jsonReply({ status: 'ready' }, LIVE)
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

/**
 * A problem with a cause names hosts, files and processes, so its message is for callers on this machine only. Everybody else
 * gets a general sentence; the log has the cause in both cases.
 */
function notReady(error: unknown, showsDetails: boolean): ServiceError {
  if (error instanceof ServiceError && (showsDetails || error.cause === undefined)) return error
  return new ServiceError('service_unavailable', 'the service cannot do its work at the moment', {
    cause: error instanceof ServiceError ? error.cause : error,
  })
}

const LOOPBACK = /^(?:127\.|::ffff:127\.|::1$)/i

/** Whether the connection comes from this machine, and not from a proxy on it that forwards for somebody else. */
function isFromThisMachine({ address, headers }: HttpRequest): boolean {
  return (
    LOOPBACK.test(address) && headers.get('x-forwarded-for') === null && headers.get('forwarded') === null
  )
}

/** Each file under its path, ready to be sent: everything is read once, now. */
export async function webPages(files: readonly WebFile[]): Promise<Readonly<Record<string, PublicPage>>> {
  const pages: Record<string, PublicPage> = {}
  for (const file of files) {
    const { path, isHashed } = file
    // One name for all assets, since there is a series of metrics for each name.
    const name = isHashed ? 'asset' : path === '/' ? 'staff-page' : path.slice(1)
    pages[path] = { name, answer: getOnly(await fileReply(file)) }
    if (!isHashed && path !== '/') pages[`${path}/`] = pages[path]
  }
  return pages
}

/** From memory, so that a build that replaces the file does not change what a running service serves. */
async function fileReply({
  type,
  isHashed,
  forms,
}: WebFile): Promise<(request: HttpRequest) => Promise<Reply>> {
  const identity = await forms.identity.bytes()
  const compressed = new Map<PageCoding, Uint8Array>()
  for (const coding of OFFERED) {
    const form = forms[coding]
    if (form !== undefined) compressed.set(coding, await form.bytes())
  }
  const codings = [...compressed.keys()]
  const tag = contentHash(identity)
  const common = {
    ...SECURITY_HEADERS,
    'Cache-Control': isHashed ? FOR_A_YEAR : ASK_FIRST,
    ...(codings.length === 0 ? {} : { Vary: 'Accept-Encoding' }),
  }
  return async ({ headers }) => {
    const coding = chosenCoding(codings, headers.get('accept-encoding'))
    const ETag = entityTag(tag, coding)
    if (matchesTag(headers.get('if-none-match'), ETag)) {
      return { status: 304, headers: { ...common, ETag }, body: null }
    }
    const described = { ...common, 'Content-Type': type, ETag }
    const body = coding === undefined ? undefined : compressed.get(coding)
    return coding === undefined || body === undefined
      ? { status: 200, headers: described, body: identity }
      : { status: 200, headers: { ...described, 'Content-Encoding': coding }, body }
  }
}
