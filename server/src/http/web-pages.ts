import type { HttpRequest } from '@petstore/wire'
import { getOnly, type PublicPage } from './public-pages.ts'
import type { Reply } from './reply.ts'
import { chosenCoding, contentHash, entityTag, matchesTag } from './representation.ts'

type PageCoding = 'br' | 'gzip'

/** A file for browsers: a page, or what a page is made of. */
export interface WebFile {
  readonly path: string
  readonly type: string
  /** Whether its path names its content: then it never changes. */
  readonly isHashed: boolean
  readonly forms: { readonly identity: Blob } & { readonly [Coding in PageCoding]?: Blob }
}

type FormBytes = { readonly identity: Uint8Array } & { readonly [Coding in PageCoding]?: Uint8Array }

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

/** Each file under its path, ready to be sent: everything is read once, now. */
export async function webPages(files: readonly WebFile[]): Promise<Readonly<Record<string, PublicPage>>> {
  const pages: Record<string, PublicPage> = {}
  for (const file of files) {
    const page = { name: nameOf(file), answer: getOnly(await shown(file)) }
    pages[file.path] = page
    if (!file.isHashed && file.path !== '/') pages[`${file.path}/`] = page
  }
  return pages
}

/** One name for all assets, since there is a series of metrics for each name. */
function nameOf({ path, isHashed }: WebFile): string {
  return isHashed ? 'asset' : path === '/' ? 'staff-page' : path.slice(1)
}

async function shown({ type, isHashed, forms }: WebFile): Promise<(request: HttpRequest) => Promise<Reply>> {
  const { identity, ...others } = await inMemory(forms)
  const tag = contentHash(identity)
  const codings = OFFERED.filter((coding) => others[coding] !== undefined)
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
    return {
      status: 200,
      headers: {
        ...common,
        'Content-Type': type,
        ETag,
        ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
      },
      body: (coding === undefined ? undefined : others[coding]) ?? identity,
    }
  }
}

/** So that a build that replaces the files does not change what a running service serves. */
async function inMemory({ identity, br, gzip }: WebFile['forms']): Promise<FormBytes> {
  return {
    identity: await identity.bytes(),
    ...(br === undefined ? {} : { br: await br.bytes() }),
    ...(gzip === undefined ? {} : { gzip: await gzip.bytes() }),
  }
}
