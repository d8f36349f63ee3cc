import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { HttpRequest } from '@petstore/wire'
import { ServiceError } from '../core/values/errors.ts'
import { contentHash } from '../core/values/record-tag.ts'
import { chooseCoding, entityTag, jsonReply, matchesTag, NO_STORE, type Reply, toJson } from './reply.ts'

/** A page that needs no key, outside the base path of the API. */
export interface PublicPage {
  /** Its name in metrics and logs. */
  readonly name: string
  /** Whether its content counts against the limit of the client address. Probes do not count. */
  readonly isLimited: boolean
  /** Called for GET and HEAD. */
  readonly answer: Responder
}

type Responder = (request: HttpRequest) => Promise<Reply>

interface Contract {
  readonly servers: readonly { readonly url: string | undefined }[]
}

export interface PublicPageParts {
  /** Builds the OpenAPI document. Called at the first request for a page that needs it, when the service knows its own address. */
  readonly contract: () => Contract
  /** Rejects while the service cannot serve requests. */
  /** Resolves to warnings about what does not keep the service from answering. */
  readonly checkReady: () => Promise<readonly string[]>
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
  readonly forms: Forms<Blob>
}

/** The same content, as it is and compressed. */
type Forms<Content> = { readonly identity: Content } & { readonly [Coding in PageCoding]?: Content }

/** In order of preference: brotli compresses better. */
const PAGE_CODINGS: readonly PageCoding[] = ['br', 'gzip']
const CACHE_FOR_A_YEAR = { 'Cache-Control': 'public, max-age=31536000, immutable' }
/** A page may be cached but is revalidated each time, because it names the assets of the newest build. */
const REVALIDATE_PAGE = { 'Cache-Control': 'no-cache' }

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

const PROBES = ['/healthz', '/readyz']

const CATALOG_PATH = '/.well-known/api-catalog'
const CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
/** For programs that send HEAD (RFC 9727, 2). */
const CATALOG_LINK = { Link: `<${CATALOG_PATH}>; rel="api-catalog"` }

/** Where programs find the API, its contract, its documentation and its health (RFC 9727, RFC 8631). */
function apiCatalog({ servers: [server] }: Contract) {
  if (server?.url === undefined) throw new Error('the contract must name the address of a server')
  const origin = server.url.replace(/\/v1$/, '')
  const link = (path: string, type: string) => [{ href: `${origin}${path}`, type }]
  return {
    linkset: [
      { anchor: `${origin}${CATALOG_PATH}`, item: [{ href: server.url }] },
      {
        anchor: server.url,
        'service-desc': link('/openapi.json', 'application/json'),
        'service-doc': link('/docs', 'text/html'),
        status: link('/readyz', 'application/json'),
      },
    ],
  }
}

function atFirstRequest(createResponder: () => Responder): Responder {
  let responder: Responder | undefined
  return async (request) => {
    responder ??= createResponder()
    return responder(request)
  }
}

export function publicPages(parts: PublicPageParts): ReadonlyMap<string, PublicPage> {
  const { contract, checkReady, webPages } = parts
  const aliveReply = jsonReply({ status: 'ok' }, NO_STORE)
  const responders: Readonly<Record<string, Responder>> = {
    '/openapi.json': atFirstRequest(() => jsonResponder(contract())),
    [CATALOG_PATH]: atFirstRequest(() => jsonResponder(apiCatalog(contract()), CATALOG_TYPE, CATALOG_LINK)),
    '/healthz': async () => aliveReply,
    '/readyz': async (request) => {
      const warnings = await checkReady().catch((error: unknown) => {
        throw notReady(error, isFromThisMachine(request))
      })
      return jsonReply({ status: 'ready', ...(warnings.length > 0 && { warnings }) }, NO_STORE)
    },
  }
  const pages = new Map(Object.entries(webPages))
  for (const [path, answer] of Object.entries(responders)) {
    pages.set(path, {
      name: path.slice(path.lastIndexOf('/') + 1),
      isLimited: !PROBES.includes(path),
      answer,
    })
  }
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
    const page = { name: pageName(file), isLimited: true, answer: await fileResponder(file) }
    pages[path] = page
    if (!isHashed && path !== '/') pages[`${path}/`] = page
  }
  return pages
}

/** All assets share a name, and so do all pages of the API docs, because each name is a series in the metrics. */
function pageName({ path, isHashed }: WebFile): string {
  if (isHashed) return 'asset'
  return path === '/' ? 'staff-page' : 'docs'
}

/** As in web/build.ts. */
const BROTLI_QUALITY = 9

/** Encodes and compresses the value once, which takes 5 ms for the contract. */
function jsonResponder(value: unknown, type = 'application/json', headers: Reply['headers'] = {}): Responder {
  const identity = Buffer.from(toJson(value))
  const br = brotliCompressSync(identity, {
    params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
  })
  return formsResponder({ identity, br, gzip: gzipSync(identity) }, type, { ...headers, ...REVALIDATE_PAGE })
}

/** Reads the file once, so that a new build does not change the files of a running service. */
async function fileResponder({ type, isHashed, forms }: WebFile): Promise<Responder> {
  const bytes: Forms<Uint8Array> = {
    identity: await forms.identity.bytes(),
    ...(forms.br === undefined ? {} : { br: await forms.br.bytes() }),
    ...(forms.gzip === undefined ? {} : { gzip: await forms.gzip.bytes() }),
  }
  return formsResponder(bytes, type, {
    ...SECURITY_HEADERS,
    ...(isHashed ? CACHE_FOR_A_YEAR : REVALIDATE_PAGE),
  })
}

function formsResponder(forms: Forms<Uint8Array>, type: string, headersOfForms: Reply['headers']): Responder {
  const codings = PAGE_CODINGS.filter((coding) => forms[coding] !== undefined)
  const hash = contentHash(forms.identity)
  const commonHeaders = {
    ...headersOfForms,
    ...(codings.length === 0 ? {} : { Vary: 'Accept-Encoding' }),
  }
  return async ({ headers }) => {
    const coding = chooseCoding(codings, headers.get('accept-encoding'))
    const ETag = entityTag(hash, coding)
    if (matchesTag(headers.get('if-none-match'), ETag)) {
      return { status: 304, headers: { ...commonHeaders, ETag }, body: null }
    }
    const encodingHeaders = coding === undefined ? {} : { 'Content-Encoding': coding }
    return {
      status: 200,
      headers: { ...commonHeaders, 'Content-Type': type, ETag, ...encodingHeaders },
      body: forms[coding ?? 'identity'] ?? forms.identity,
    }
  }
}
