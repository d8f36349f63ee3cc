import { DAY } from '../values/clock.ts'
import type { Idempotency, KeyedAnswer, Outcome, SubmittedCommand } from './command.ts'

/** How long an answer is remembered. */
export const REMEMBERED_MS = DAY

/** An answer as the store keeps it. It is written in the commit that decided the command. */
export interface RememberedAnswer {
  readonly keyId: string
  readonly key: string
  readonly fingerprint: string
  readonly answer: string
  readonly at: number
}

export type IdempotencyKey = Pick<RememberedAnswer, 'keyId' | 'key' | 'at'>

/** Identifies an answer. Neither part contains a space, so the ids of different answers differ. */
export function answerId({ keyId, key }: Pick<IdempotencyKey, 'keyId' | 'key'>): string {
  return `${keyId} ${key}`
}

export type Answers = ReadonlyMap<string, RememberedAnswer>

/** The answers that a commit adds, on top of the remembered answers that it has read. */
export class AnswersDraft {
  readonly #remembered: Answers
  readonly #newAnswers = new Map<string, RememberedAnswer>()

  constructor(remembered: Answers) {
    this.#remembered = remembered
  }

  get newAnswers(): RememberedAnswer[] {
    return [...this.#newAnswers.values()]
  }

  /**
   * Decides the command if its key is new. If the key is known, returns the stored answer, or `key_reused` if the key belongs
   * to another command.
   */
  decideOnce(
    { keyId, at }: SubmittedCommand,
    idempotency: Idempotency<Outcome>,
    decide: () => Outcome,
  ): KeyedAnswer {
    const { key, fingerprint } = idempotency
    const id = answerId({ keyId, key })
    const earlier = this.#newAnswers.get(id) ?? this.#remembered.get(id)
    if (earlier !== undefined && at - earlier.at < REMEMBERED_MS) {
      return earlier.fingerprint === fingerprint
        ? { type: 'answered', answer: earlier.answer, isReplay: true }
        : { type: 'key_reused' }
    }
    const outcome = decide()
    const answer = idempotency.answer(outcome)
    if (isRemembered(outcome)) this.#newAnswers.set(id, { keyId, key, fingerprint, answer, at })
    return { type: 'answered', answer, isReplay: false }
  }
}

/** The answer to an invalid or forbidden command is not remembered, so it is decided again each time it is sent. */
function isRemembered(outcome: Outcome): boolean {
  switch (outcome.type) {
    case 'invalid_category':
    case 'webhook_changed':
      return false
    case 'refused':
      return outcome.failures.every(({ code }) => code !== 'invalid_request' && code !== 'forbidden')
    default:
      return true
  }
}

/** The distinct idempotency keys of the commands. They are sorted, so that two commits never deadlock over their keys. */
export function idempotencyKeysOf(commands: readonly SubmittedCommand[]): IdempotencyKey[] {
  const keys = new Map<string, IdempotencyKey>()
  for (const { keyId, at, idempotency } of commands) {
    if (idempotency === undefined) continue
    const idempotencyKey = { keyId, key: idempotency.key, at }
    keys.set(answerId(idempotencyKey), idempotencyKey)
  }
  return [...keys]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, idempotencyKey]) => idempotencyKey)
}
