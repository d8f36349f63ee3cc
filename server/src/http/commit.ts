import type { Command, CommandType, Outcome, OutcomeByType } from '../core/stock/command.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { Input, Services } from './operation.ts'
import { errorReply, type Reply, type StorableReply } from './reply.ts'

/** A command of the caller. `commitAndReply` adds the key and the time, unless they are given. */
type CallerCommand<C extends Command> = C extends Command
  ? Omit<C, 'keyId' | 'at'> & Partial<Pick<C, 'keyId' | 'at'>>
  : never

/** Returns the reply to an outcome, or the error. */
type ReplyTo<O extends Outcome> = (outcome: O) => StorableReply | ServiceError

type OutcomeReplies<Type extends CommandType> = {
  readonly [OutcomeType in OutcomeByType[Type]['type']]: ReplyTo<
    Extract<OutcomeByType[Type], { readonly type: OutcomeType }>
  >
}

/** Commits a command and replies with its outcome. A repeated Idempotency-Key gets the stored reply instead. */
export async function commitAndReply<Type extends CommandType>(
  { key, idempotency }: Pick<Input, 'key' | 'idempotency'>,
  { commits, clock }: Pick<Services, 'commits' | 'clock'>,
  callerCommand: { readonly type: Type } & CallerCommand<Extract<Command, { readonly type: Type }>>,
  replies: OutcomeReplies<Type>,
): Promise<Reply> {
  // Only these two fields were missing.
  const command = { keyId: key.id, at: clock(), ...callerCommand } as Command
  // The store returns an outcome of this command, and the replies have a function for each of them.
  const repliesByType = replies as unknown as Readonly<Record<Outcome['type'], ReplyTo<Outcome>>>
  const toReply = (outcome: Outcome): StorableReply => {
    const reply = repliesByType[outcome.type](outcome)
    return reply instanceof ServiceError ? errorReply(reply) : reply
  }
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
