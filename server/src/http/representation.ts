import { createHash } from 'node:crypto'
import type { HttpRequest } from '@petstore/wire'
import type { Page, PageRequest } from '../core/values/page.ts'
import { type JsonReply, jsonReply, jsonTextReply, type Reply, toJson } from './reply.ts'

export const IF_NONE_MATCH = {
  'If-None-Match': 'ETags that the caller has; 304 if one of them is current.',
}

/** Each content coding has its own tag (RFC 9110, 8.8.3). */
export function entityTag(content: string, coding?: string): string {
  return coding === undefined ? `"${content}"` : `"${content}-${coding}"`
}

/** Has the same ETag as a GET of the resource. */
export function taggedReply(body: object): JsonReply {
  return jsonReply(body, { ETag: entityTag(contentHash(toJson(body), '')) })
}

export function contentHash(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64url').slice(0, 22)
}

/**
 * Adds an ETag of the content, unless there is one, and replies 304 if the caller has that content. The link to the next
 * page counts as content, because it changes when rows are added after the last page.
 */
export function conditional(reply: JsonReply, { headers }: HttpRequest): Reply {
  const { Link } = reply.headers
  const ETag = reply.headers.ETag ?? entityTag(contentHash(reply.body, Link ?? ''))
  if (matchesTag(headers.get('if-none-match'), ETag)) {
    return { status: 304, headers: { ETag, ...(Link === undefined ? {} : { Link }) }, body: null }
  }
  return { ...reply, headers: { ...reply.headers, ETag } }
}

/** The parameters of a paged list. */
type PageQuery = Readonly<Record<string, unknown>> & PageRequest

/** Replies with a page. Its `Link` header is the address of the next page: the same query with another cursor. */
export function pageReply<Row>(
  request: HttpRequest,
  query: PageQuery,
  { rows, next }: Page<Row>,
  toBody: (row: Row) => unknown = (row) => row,
): Reply {
  return pageTextReply(request, query, toJson(rows.map(toBody)), next)
}

export function pageTextReply(
  request: HttpRequest,
  query: PageQuery,
  json: string,
  next: string | undefined,
): Reply {
  const link = next === undefined ? {} : { Link: `<${nextAddress(request, query, next)}>; rel="next"` }
  return conditional(jsonTextReply(json, link), request)
}

/** Repeats the parameters as they were sent: a parsed time is a number. */
function nextAddress(request: HttpRequest, query: PageQuery, cursor: string): string {
  const sent = new URLSearchParams(request.query)
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, cursor: undefined })) {
    if (value !== undefined) parameters.set(name, sent.get(name) ?? String(value))
  }
  parameters.set('cursor', cursor)
  return `${request.path}?${parameters}`
}

export function matchesTag(ifNoneMatch: string | null, tag: string): boolean {
  return matchedTag(ifNoneMatch, [tag]) !== undefined
}

/** The tag that the caller has. `*` matches the first. If-None-Match compares weakly (RFC 9110, 13.1.2). */
export function matchedTag(ifNoneMatch: string | null, tags: readonly string[]): string | undefined {
  if (ifNoneMatch === null) return undefined
  // Almost always the header is one tag.
  if (tags.includes(ifNoneMatch)) return ifNoneMatch
  if (ifNoneMatch.trim() === '*') return tags[0]
  const candidates = ifNoneMatch.split(',').map((candidate) => candidate.trim().replace(/^W\//, ''))
  return candidates.find((candidate) => tags.includes(candidate))
}

/** The content coding that the caller prefers. Among equals, the first that is offered wins. */
export function chosenCoding<Offered extends string>(
  offered: readonly Offered[],
  acceptEncoding: string | null,
): Offered | undefined {
  if (acceptEncoding === null) return undefined
  const weights = new Map<string, number>()
  for (const entry of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)))
  }
  const weightOf = (coding: Offered) => weights.get(coding) ?? weights.get('*') ?? 0
  let best: Offered | undefined
  for (const coding of offered) {
    if (weightOf(coding) > 0 && (best === undefined || weightOf(coding) > weightOf(best))) best = coding
  }
  return best
}
