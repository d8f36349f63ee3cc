import type { HttpRequest } from '@petstore/wire'
import { ServiceError } from '../core/values/errors.ts'
import { jsonReply, methodNotAllowedReply, type Reply } from './reply.ts'
import { conditional } from './representation.ts'

/** A page outside the base address that needs no key. */
export interface PublicPage {
  /** What metrics and logs call it. */
  readonly name: string
  answer(request: HttpRequest): Promise<Reply>
}

export interface PublicPageParts {
  readonly contract: unknown
  /** Throws while the service cannot do its work. */
  readonly checkReady: () => Promise<void>
  /** What browsers are shown, by path. */
  readonly webPages: Readonly<Record<string, PublicPage>>
}

/** A cached answer would tell how things were. */
const LIVE = { 'Cache-Control': 'no-store' }

export function publicPages(parts: PublicPageParts): ReadonlyMap<string, PublicPage> {
  const { contract, checkReady, webPages } = parts
  const contractReply = jsonReply(contract)
  const alive = jsonReply({ status: 'ok' }, LIVE)
  const pages: Readonly<Record<string, (request: HttpRequest) => Promise<Reply>>> = {
    '/openapi.json': async (request) => conditional(contractReply, request.headers.get('if-none-match')),
    '/healthz': async () => alive,
    '/readyz': async () => {
      await checkReady().catch(notReady)
      return jsonReply({ status: 'ready' }, LIVE)
    },
  }
  return new Map([
    ...Object.entries(webPages),
    ...Object.entries(pages).map(
      ([path, show]) => [path, { name: path.slice(1), answer: getOnly(show) }] as const,
    ),
  ])
}

/** Refuses every method but GET and HEAD. */
export function getOnly(show: (request: HttpRequest) => Promise<Reply>): PublicPage['answer'] {
  return async (request) =>
    request.method === 'GET' || request.method === 'HEAD'
      ? show(request)
      : methodNotAllowedReply(request.method, ['GET', 'HEAD'])
}

/** Whatever is wrong, the one who asks wants to know one thing: not now. */
function notReady(error: unknown): never {
  if (error instanceof ServiceError) throw error
  throw new ServiceError('service_unavailable', 'the service cannot do its work at the moment', {
    cause: error,
  })
}
