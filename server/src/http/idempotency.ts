import { createHash } from 'node:crypto'
import type { HttpRequest } from '@petstore/wire'
import type { Command, Idempotency, OutcomeOf } from '../core/stock/command.ts'
import type { GroupCommit } from '../core/stock/group-commit.ts'
import { ServiceError } from '../core/values/errors.ts'
import { errorReply, type Reply, type StorableReply } from './reply.ts'
import { invalid } from './request-input.ts'

export const IDEMPOTENCY_KEY = {
  'Idempotency-Key':
    '1 to 255 visible ASCII characters that the caller chooses for this change, such as a UUID. If the same request is sent again with the same key within 24 hours, it gets the first response again, with `Idempotency-Replayed: true`, and changes nothing. If the method, path or body differs, the response is 422.',
}

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/

/** The Idempotency-Key of a request, and the fingerprint of the request. */
export type RequestIdempotency = Pick<Idempotency<unknown>, 'key' | 'fingerprint'>

export function readIdempotency(
  { method, path, headers }: HttpRequest,
  body: Uint8Array = new Uint8Array(),
): RequestIdempotency | undefined {
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

/** Commits a command and replies with its outcome. A repeated Idempotency-Key gets the stored reply instead. */
export async function commitAndReply<C extends Command>(
  commits: GroupCommit,
  command: C,
  idempotency: RequestIdempotency | undefined,
  toReply: (outcome: OutcomeOf<C>) => StorableReply,
): Promise<Reply> {
  if (idempotency === undefined) return toReply(await commits.run(command))
  const result = await commits.runOnce(command, {
    ...idempotency,
    answer: (outcome) => serializeReply(toReply(outcome)),
  })
  switch (result.type) {
    case 'answered':
      return parseStoredReply(result.answer, result.isReplay)
    case 'key_reused':
      return errorReply(keyReusedError(idempotency.key))
  }
}

function keyReusedError(key: string): ServiceError {
  return new ServiceError(
    'idempotency_key_reused',
    `the Idempotency-Key ${JSON.stringify(key)} was sent with another request within the last 24 hours; use a new key for each change`,
  )
}

function serializeReply({ status, headers, body }: StorableReply): string {
  return JSON.stringify({ status, headers, body })
}

function parseStoredReply(text: string, isReplay: boolean): Reply {
  const { status, headers, body }: StorableReply = JSON.parse(text)
  return { status, headers: isReplay ? { ...headers, 'Idempotency-Replayed': 'true' } : headers, body }
}
