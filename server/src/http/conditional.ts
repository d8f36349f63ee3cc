import { createHash } from 'node:crypto'
import type { Reply } from './reply.ts'

/** Gives a 200 an ETag that depends on its content alone, and answers 304 where the caller has that content. */
export function conditional(reply: Reply, ifNoneMatch: string | null): Reply {
  if (reply.status !== 200 || reply.body === null) return reply
  const tag = `"${createHash('sha256').update(reply.body).digest('base64url').slice(0, 22)}"`
  if (matches(ifNoneMatch, tag)) return { status: 304, headers: { ETag: tag }, body: null }
  return { ...reply, headers: { ...reply.headers, ETag: tag } }
}

/** If-None-Match compares weakly (RFC 9110, 13.1.2). */
function matches(ifNoneMatch: string | null, tag: string): boolean {
  if (ifNoneMatch === null) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag)
}
