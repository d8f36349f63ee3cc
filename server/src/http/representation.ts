import { createHash } from 'node:crypto'
import type { HttpRequest } from '@petstore/wire'
import type { Page, PageRequest } from '../core/values/page.ts'
import { type JsonReply, jsonReply, jsonTextReply, type Reply, toJson } from './reply.ts'

export const IF_NONE_MATCH = {
  'If-None-Match': 'ETags of content that the caller has. If one of them is current, the response is 304.',
}

/** Each content coding has its own tag (RFC 9110, 8.8.3). */
export function entityTag(hash: string, coding?: string): string {
  return coding === undefined ? `"${hash}"` : `"${hash}-${coding}"`
}

/** A reply with the ETag that a GET of the resource would have. */
export function taggedReply(body: object): JsonReply {
  return jsonReply(body, { ETag: entityTag(contentHash(toJson(body))) })
}

export function contentHash(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64url').slice(0, 22)
}

/**
 * Replies 304 if the caller has the content already. Adds an ETag if the reply has none. The link to the next page counts
 * as content, because the last page gets such a link when rows are added after it.
 */
export function conditionalReply(reply: JsonReply, { headers }: HttpRequest): Reply {
  const { Link } = reply.headers
  const ETag = reply.headers.ETag ?? entityTag(contentHash(reply.body, Link ?? ''))
  if (matchesTag(headers.get('if-none-match'), ETag)) {
    return { status: 304, headers: { ETag, ...(Link === undefined ? {} : { Link }) }, body: null }
  }
  return { ...reply, headers: { ...reply.headers, ETag } }
}

/** The parameters of a paged list. */
type PageQuery = Readonly<Record<string, unknown>> & PageRequest

/** Replies with a page. The `Link` header has the address of the next page: the same query with another cursor. */
export function pageReply<Row>(
  request: HttpRequest,
  query: PageQuery,
  { rows, next }: Page<Row>,
  toBody: (row: Row) => unknown = (row) => row,
): Reply {
  return pageJsonReply(request, query, toJson(rows.map(toBody)), next)
}

/** Like `pageReply`, for rows that are JSON text already. */
export function pageJsonReply(
  request: HttpRequest,
  query: PageQuery,
  rowsJson: string,
  next: string | undefined,
): Reply {
  const link = next === undefined ? {} : { Link: `<${nextAddress(request, query, next)}>; rel="next"` }
  return conditionalReply(jsonTextReply(rowsJson, link), request)
}

/** Repeats the text of the parameters that were sent, because a parsed value can differ: a parsed time is a number. */
function nextAddress(request: HttpRequest, query: PageQuery, cursor: string): string {
  const sentParameters = new URLSearchParams(request.query)
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, cursor: undefined })) {
    if (value !== undefined) parameters.set(name, sentParameters.get(name) ?? String(value))
  }
  parameters.set('cursor', cursor)
  return `${request.path}?${parameters}`
}

export function matchesTag(ifNoneMatch: string | null, tag: string): boolean {
  return findMatchingTag(ifNoneMatch, [tag]) !== undefined
}

/** Finds the tag that If-None-Match names. `*` matches the first tag. The comparison is weak (RFC 9110, 13.1.2). */
export function findMatchingTag(ifNoneMatch: string | null, tags: readonly string[]): string | undefined {
  if (ifNoneMatch === null) return undefined
  // The header is almost always a single tag.
  if (tags.includes(ifNoneMatch)) return ifNoneMatch
  if (ifNoneMatch.trim() === '*') return tags[0]
  const candidates = ifNoneMatch.split(',').map((candidate) => candidate.trim().replace(/^W\//, ''))
  return candidates.find((candidate) => tags.includes(candidate))
}

/** Chooses the content coding that the caller prefers. If it prefers several equally, the first of `offered` wins. */
export function chooseCoding<Offered extends string>(
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
