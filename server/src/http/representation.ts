import { createHash } from 'node:crypto'
import type { HttpRequest } from '@petstore/wire'
import { type EntryState, type InventoryItem, PET_STATUSES } from '../core/stock/inventory.ts'
import { ServiceError } from '../core/values/errors.ts'
import { MAX_QUANTITY } from '../core/values/field.ts'
import { type JsonReply, jsonReply, jsonTextReply, type Reply, toJson } from './reply.ts'

/** One entity tag of a list (RFC 9110, 8.8.3) and what separates it from the next. */
const LISTED_TAG = /[ \t]*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*(?:,|$)|[ \t]*,/y
const ENTRY_TAG = new RegExp(`^(0|[1-9]\\d{0,15})-(${PET_STATUSES.join('|')})$`)

/** For operations that answer with a tag. */
export const IF_NONE_MATCH = {
  'If-None-Match': 'ETags that the caller has; 304 where one of them is the current one.',
}

/** The tag of a content. Each coding of it is a representation of its own, with a tag of its own (RFC 9110, 8.8.3). */
export function entityTag(content: string, coding?: string): string {
  return coding === undefined ? `"${content}"` : `"${content}-${coding}"`
}

/** With the tag that a GET of it gives as well. */
export function taggedReply(body: object): JsonReply {
  return jsonReply(body, { ETag: entityTag(contentHash(toJson(body), '')) })
}

/** Names a content by nothing but what it is. */
export function contentHash(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64url').slice(0, 22)
}

/**
 * Gives a JSON answer an ETag that depends on its content alone, unless it has one, and answers 304 where the caller has
 * that content. The link to the next page counts as content: a page that is the last one no more may hold what it held
 * before.
 */
export function conditional(reply: JsonReply, { headers }: HttpRequest): Reply {
  const { Link } = reply.headers
  const ETag = reply.headers.ETag ?? entityTag(contentHash(reply.body, Link ?? ''))
  if (matchesTag(headers.get('if-none-match'), ETag)) {
    return { status: 304, headers: { ETag, ...(Link === undefined ? {} : { Link }) }, body: null }
  }
  return { ...reply, headers: { ...reply.headers, ETag } }
}

type NextPage = Readonly<Record<string, string | number | bigint | undefined>> & {
  readonly cursor: string | undefined
}

/** A page, and in `Link` the address of the next one: this one's, with these parameters. */
export function pageReply(request: HttpRequest, values: readonly unknown[], next: NextPage): Reply {
  return pageTextReply(request, toJson(values), next)
}

export function pageTextReply(request: HttpRequest, json: string, next: NextPage): Reply {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(next)) {
    if (value !== undefined) query.set(name, String(value))
  }
  const link = next.cursor === undefined ? {} : { Link: `<${request.path}?${query}>; rel="next"` }
  return conditional(jsonTextReply(json, link), request)
}

export function matchesTag(ifNoneMatch: string | null, tag: string): boolean {
  return matchedTag(ifNoneMatch, [tag]) !== undefined
}

/** The tag that the caller has; the first where it says that it has any. If-None-Match compares weakly (RFC 9110, 13.1.2). */
export function matchedTag(ifNoneMatch: string | null, tags: readonly string[]): string | undefined {
  if (ifNoneMatch === null) return undefined
  // Almost always it is one tag, as it was given.
  if (tags.includes(ifNoneMatch)) return ifNoneMatch
  if (ifNoneMatch.trim() === '*') return tags[0]
  const candidates = ifNoneMatch.split(',').map((candidate) => candidate.trim().replace(/^W\//, ''))
  return candidates.find((candidate) => tags.includes(candidate))
}

/** As the list has it. */
export function entryText({ petId, quantity, status }: InventoryItem): string {
  return `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`
}

/** The tag of an entry: its state and nothing else, so it is the same on every instance and after a restart. */
export function entryTag({ quantity, status }: EntryState): string {
  return `"${quantity}-${status}"`
}

/**
 * The states that an If-Match header allows; `undefined` where it allows any. A weak tag matches nothing here, and
 * neither does one that is none of ours.
 */
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
  const status = PET_STATUSES.find((one) => one === name)
  return status === undefined || quantity > MAX_QUANTITY ? undefined : { quantity, status }
}

function malformed(ifMatch: string): ServiceError {
  const got = JSON.stringify(ifMatch.length > 40 ? `${ifMatch.slice(0, 40)}…` : ifMatch)
  return new ServiceError(
    'invalid_request',
    `If-Match must be *, or ETags in double quotes with commas between them such as "12-available", got ${got}`,
  )
}

/** The coding that the caller takes and likes best; of those it likes alike, the first one offered. */
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
