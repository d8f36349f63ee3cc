import { DAY } from '../values/clock.ts'
import {
  type ChangeOutcome,
  type Idempotency,
  isPetRequest,
  type StockOutcome,
  type StockRequest,
} from './stock-request.ts'

/** How long an answer is remembered. */
export const REMEMBERED_MS = DAY

/** What the store keeps of a request with a key, in the commit that decided it. */
export interface RememberedAnswer {
  readonly keyId: string
  readonly key: string
  readonly fingerprint: string
  readonly answer: string
  readonly at: number
}

export type IdempotencyKey = Pick<RememberedAnswer, 'keyId' | 'key' | 'at'>

/** Under which it is looked up: neither part holds a space. */
export function answerId({ keyId, key }: Pick<IdempotencyKey, 'keyId' | 'key'>): string {
  return `${keyId} ${key}`
}

export type Answers = ReadonlyMap<string, RememberedAnswer>

/** The answers to requests of one commit that have a key: those of earlier commits, and those that it adds. */
export class AnswerBook {
  readonly #remembered: Answers
  readonly #added = new Map<string, RememberedAnswer>()

  constructor(remembered: Answers) {
    this.#remembered = remembered
  }

  get added(): RememberedAnswer[] {
    return [...this.#added.values()]
  }

  /** Decides a request unless that was done before: then the answer is the same, or the key is another request's. */
  once(
    request: StockRequest,
    { key, fingerprint, answer }: Idempotency,
    decide: () => ChangeOutcome,
  ): StockOutcome {
    const { keyId, at } = request
    const id = answerId({ keyId, key })
    const known = this.#added.get(id) ?? this.#remembered.get(id)
    if (known !== undefined && at - known.at < REMEMBERED_MS) {
      return known.fingerprint === fingerprint ? { answer: known.answer, isReplay: true } : 'key_reused'
    }
    const outcome = decide()
    if (!isRemembered(request, outcome)) return outcome
    const made = { keyId, key, fingerprint, answer: answer(outcome), at }
    this.#added.set(id, made)
    return { answer: made.answer, isReplay: false }
  }
}

/** A request that could never be right is refused each time it comes: so is a pet of no category, but not that category's own. */
function isRemembered(request: StockRequest, outcome: ChangeOutcome): boolean {
  if (typeof outcome === 'string') return true
  if ('failures' in outcome) return outcome.failures.every(({ code }) => code !== 'invalid_request')
  return !('unknownCategory' in outcome && isPetRequest(request))
}

/** The keys that requests name, each once and in one order, so that two who wait for each other's never wait crosswise. */
export function keysOf(requests: readonly StockRequest[]): IdempotencyKey[] {
  const keys = new Map<string, IdempotencyKey>()
  for (const { keyId, at, idempotency } of requests) {
    if (idempotency === undefined) continue
    const named = { keyId, key: idempotency.key, at }
    keys.set(answerId(named), named)
  }
  return [...keys].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, named]) => named)
}
