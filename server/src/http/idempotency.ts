import { createHash } from 'node:crypto'
import type { HttpRequest } from '@petstore/wire'
import type { GroupCommit } from '../core/stock/group-commit.ts'
import type { ChangeOutcome, Idempotency, StockRequest } from '../core/stock/stock-request.ts'
import { ServiceError } from '../core/values/errors.ts'
import { errorReply, type KeptReply, type Reply } from './reply.ts'
import { invalid } from './request-input.ts'

export const IDEMPOTENCY_KEY = {
  'Idempotency-Key':
    'Any 1 to 255 visible ASCII characters, such as a UUID, that the caller chooses for this change. Sent again with the same method, path and body within 24 hours, it is answered as it was the first time, with Idempotency-Replayed: true, and nothing changes; with another request it is 422.',
}

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/

/** What a request with an Idempotency-Key is known by. */
export type SentKey = Pick<Idempotency, 'key' | 'fingerprint'>

export function sentKeyOf(
  { method, path, headers }: HttpRequest,
  body: Uint8Array = new Uint8Array(),
): SentKey | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (!VISIBLE_ASCII.test(key)) {
    throw invalid(
      `Idempotency-Key must be 1 to 255 visible ASCII characters, got ${key.length} characters: ${JSON.stringify(key.slice(0, 40))}`,
    )
  }
  const fingerprint = createHash('sha256').update(`${method} ${path}\n`).update(body).digest('base64url')
  return { key, fingerprint }
}

/** Commits a change, once for each Idempotency-Key, and answers with what came of it. */
export function changeOnce(
  commits: GroupCommit,
  request: StockRequest,
  sent: SentKey | undefined,
  toReply: (outcome: ChangeOutcome) => KeptReply,
): Promise<Reply> {
  const keyed =
    sent === undefined
      ? request
      : { ...request, idempotency: { ...sent, answer: (outcome: ChangeOutcome) => toText(toReply(outcome)) } }
  return commits.change(keyed, (outcome) => {
    if (outcome === 'key_reused') return errorReply(keyReused(sent?.key))
    return typeof outcome === 'object' && 'isReplay' in outcome
      ? fromText(outcome.answer, outcome.isReplay)
      : toReply(outcome)
  })
}

function keyReused(key: string | undefined): ServiceError {
  return new ServiceError(
    'idempotency_key_reused',
    `the Idempotency-Key ${JSON.stringify(key)} was sent with another request within the last 24 hours; use another one for each change`,
  )
}

function toText({ status, headers, body }: KeptReply): string {
  return JSON.stringify({ status, headers, body })
}

function fromText(text: string, isReplay: boolean): Reply {
  const { status, headers, body }: KeptReply = JSON.parse(text)
  return { status, headers: isReplay ? { ...headers, 'Idempotency-Replayed': 'true' } : headers, body }
}
