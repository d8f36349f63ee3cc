import { createHash } from 'node:crypto'
import type { HttpRequest } from '@petstore/wire'
import { type EntryState, type InventoryItem, PET_STATUSES } from '../core/stock/inventory.ts'
import { ServiceError } from '../core/values/errors.ts'
import { MAX_QUANTITY } from '../core/values/field.ts'
import type { Page, PageRequest } from '../core/values/page.ts'
import { type JsonReply, jsonReply, jsonTextReply, type Reply, toJson } from './reply.ts'

/** One entity tag of a list (RFC 9110, 8.8.3) and its separator. */
const LISTED_TAG = /[ \t]*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*(?:,|$)|[ \t]*,/y
const ENTRY_TAG = new RegExp(`^(0|[1-9]\\d{0,15})-(${PET_STATUSES.join('|')})$`)

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
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, cursor: next })) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  const link = next === undefined ? {} : { Link: `<${request.path}?${parameters}>; rel="next"` }
  return conditional(jsonTextReply(json, link), request)
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

/** The JSON of an entry, as in the list. */
export function entryText({ petId, quantity, status }: InventoryItem): string {
  return `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`
}

/** Depends only on the state of the entry, so it is the same on every instance and after a restart. */
export function entryTag({ quantity, status }: EntryState): string {
  return `"${quantity}-${status}"`
}

/** The states that an If-Match header allows; `undefined` if it allows any. Weak and foreign tags match nothing. */
export function statesIn(ifMatch: string | null): readonly EntryState[] | undefined {
  if (ifMatch === null || ifMatch.trim() === '*') return undefined
  const states: EntryState[] = []
  let tags = 0
  LISTED_TAG.lastIndex = 0
  while (LISTED_TAG.lastIndex < ifMatch.length) {
    const found = LISTED_TAG.exec(ifMatch)
    if (found === null) throw malformed(ifMatch)
    const [, weak, tag] = found
    if (tag !== undefined) tags++
    const state = weak === undefined && tag !== undefined ? stateOf(tag) : undefined
    if (state !== undefined) states.push(state)
  }
  if (tags === 0) throw malformed(ifMatch)
  return states
}

function stateOf(tag: string): EntryState | undefined {
  const [, digits, name] = ENTRY_TAG.exec(tag) ?? []
  const quantity = Number(digits)
  const status = PET_STATUSES.find((candidate) => candidate === name)
  return status === undefined || quantity > MAX_QUANTITY ? undefined : { quantity, status }
}

function malformed(ifMatch: string): ServiceError {
  const got = JSON.stringify(ifMatch.length > 40 ? `${ifMatch.slice(0, 40)}…` : ifMatch)
  return new ServiceError(
    'invalid_request',
    `If-Match must be * or comma-separated ETags in double quotes such as "12-available", got ${got}`,
  )
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
