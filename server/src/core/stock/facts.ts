import { DAY, MINUTE } from '../values/clock.ts'

/** How long after it happened a fact can be recorded. */
export const MAX_LATENESS_DAYS = 30
const MAX_LATENESS_MS = MAX_LATENESS_DAYS * DAY
/** The clock of a device may be ahead by this much. */
export const MAX_AHEAD_MINUTES = 5
export const MAX_AHEAD_MS = MAX_AHEAD_MINUTES * MINUTE

/** What a decision has to know about earlier facts. The store answers under the locks of the pets. */
export type FactQuestion =
  /** The units that came in, less those that went out, after this time. */
  | { readonly type: 'later_units'; readonly petId: bigint; readonly time: number }
  /** For each line of the document that was reversed: the units that were. A reversed count has 1. */
  | { readonly type: 'reversed_units'; readonly document: bigint }
  /** The stock of the pet if the count of this document had not been made. */
  | { readonly type: 'stock_without_count'; readonly petId: bigint; readonly document: bigint }
  /** Whether a count of the same millisecond was recorded after the document. */
  | {
      readonly type: 'was_counted_next'
      readonly petId: bigint
      readonly document: bigint
      readonly time: number
    }
  /** The time from which the log is complete; `undefined` if nothing was pruned. */
  | { readonly type: 'history_start' }

interface AnswerTypes {
  later_units: number
  reversed_units: ReadonlyMap<bigint, number>
  stock_without_count: StockWithoutCount | undefined
  was_counted_next: boolean
  history_start: number | undefined
}

/** The latest other count of the pet, and all movements since. `undefined` if the log no longer has such a count. */
export interface StockWithoutCount {
  readonly quantity: number
  readonly countedAt: number
  /** Whether the other count is later, so that the stock does not depend on the count of the question. */
  readonly isLater: boolean
}

export type FactAnswer<Type extends FactQuestion['type'] = FactQuestion['type']> = AnswerTypes[Type]

/** The answers that a commit has read. */
export type FactAnswers = ReadonlyMap<string, FactAnswer>

/** Identifies a question in `FactAnswers`. */
export function questionId(question: FactQuestion): string {
  return Object.values(question).join(' ')
}

/** The decision needs these answers. The commit has to read them and decide again. */
export class FactsNeeded extends Error {
  override readonly name = 'FactsNeeded'
  readonly questions: readonly FactQuestion[]

  constructor(questions: readonly FactQuestion[]) {
    super(`the decision needs facts: ${questions.map(questionId).join(', ')}`)
    this.questions = questions
  }
}

/** The earlier facts that a decision knows. */
export class KnownFacts {
  readonly #answers: FactAnswers

  constructor(answers: FactAnswers = new Map()) {
    this.#answers = answers
  }

  /** Throws `FactsNeeded` with all of the questions that have no answer yet. */
  require(questions: readonly FactQuestion[]): void {
    const unanswered = questions.filter((question) => !this.#answers.has(questionId(question)))
    if (unanswered.length > 0) throw new FactsNeeded(unanswered)
  }

  answer<Question extends FactQuestion>(question: Question): FactAnswer<Question['type']> {
    this.require([question])
    // The store answers each question with the type that belongs to it.
    return this.#answers.get(questionId(question)) as FactAnswer<Question['type']>
  }
}

/** The request cannot be recorded any more. */
export interface TooLate {
  readonly type: 'too_late'
  readonly message: string
}

/** Why a fact of this time cannot be recorded any more; `undefined` if it can. */
export function latenessOf(facts: KnownFacts, occurredAt: number, now: number): TooLate | undefined {
  if (now - occurredAt > MAX_LATENESS_MS) {
    return tooLate(`it happened more than ${MAX_LATENESS_DAYS} days ago (${isoTime(occurredAt)})`)
  }
  const start = facts.answer({ type: 'history_start' })
  return start !== undefined && occurredAt < start
    ? tooLate(`it happened at ${isoTime(occurredAt)}, and the history begins at ${isoTime(start)}`)
    : undefined
}

export function tooLate(reason: string): TooLate {
  return { type: 'too_late', message: `${reason}, so its effect cannot be known; count the pets instead` }
}

function isoTime(time: number): string {
  return new Date(time).toISOString()
}
