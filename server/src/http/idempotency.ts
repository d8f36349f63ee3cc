import { createHash } from 'node:crypto'
import type { HttpRequest } from '@petstore/wire'
import type { Command, Idempotency, OutcomeOf } from '../core/stock/command.ts'
import type { GroupCommit } from '../core/stock/group-commit.ts'
import { ServiceError } from '../core/values/errors.ts'
import { errorReply, type KeptReply, type Reply } from './reply.ts'
import { invalid } from './request-input.ts'

export const IDEMPOTENCY_KEY = {
  'Idempotency-Key':
    'Any 1 to 255 visible ASCII characters, such as a UUID, that the caller chooses for this change. Sent again with the same method, path and body within 24 hours, it is answered as it was the first time, with Idempotency-Replayed: true, and nothing changes; with another request it is 422.',
}

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/

/** The Idempotency-Key of a request, and the fingerprint of the request. */
export type SentKey = Pick<Idempotency<unknown>, 'key' | 'fingerprint'>

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

/** Commits a command, once for each Idempotency-Key, and replies with its outcome. */
export async function replyOnce<C extends Command>(
  commits: GroupCommit,
  command: C,
  sent: SentKey | undefined,
  toReply: (outcome: OutcomeOf<C>) => KeptReply,
): Promise<Reply> {
  if (sent === undefined) return toReply(await commits.run(command))
  const result = await commits.runOnce(command, { ...sent, answer: (outcome) => toText(toReply(outcome)) })
  switch (result.type) {
    case 'answered':
      return fromText(result.answer, result.isReplay)
    case 'key_reused':
      return errorReply(keyReused(sent.key))
  }
}

function keyReused(key: string): ServiceError {
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
