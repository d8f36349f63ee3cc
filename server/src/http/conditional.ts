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

/** If-None-Match compares weakly (RFC 9110, 13.1.2). */
export function matchesTag(ifNoneMatch: string | null, ...tags: readonly string[]): boolean {
  if (ifNoneMatch === null) return false
  // Almost always it is one tag, as it was given.
  if (tags.includes(ifNoneMatch) || ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((candidate) => tags.includes(candidate.trim().replace(/^W\//, '')))
}
