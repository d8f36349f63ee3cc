import { createHash } from 'node:crypto'
import type { Reply } from './reply.ts'

/**
 * Gives a 200 an ETag that depends on its content alone, and answers 304 where the caller has that content. The link to
 * the next page counts as content: a page that is the last one no more may hold what it held before.
 */
export function conditional(reply: Reply, ifNoneMatch: string | null): Reply {
  if (reply.status !== 200) return reply
  if (typeof reply.body !== 'string') return reply
  const { Link } = reply.headers
  const hash = createHash('sha256').update(reply.body)
  if (Link !== undefined) hash.update(Link)
  const tag = `"${hash.digest('base64url').slice(0, 22)}"`
  if (matchesTag(ifNoneMatch, tag)) {
    return { status: 304, headers: { ETag: tag, ...(Link === undefined ? {} : { Link }) }, body: null }
  }
  return { ...reply, headers: { ...reply.headers, ETag: tag } }
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
