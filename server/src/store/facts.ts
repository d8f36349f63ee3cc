import {
  type FactAnswer,
  type FactAnswers,
  type FactQuestion,
  FactsNeeded,
  MAX_AHEAD_MS,
  questionId,
} from '../core/stock/facts.ts'
import { HOUR } from '../core/values/clock.ts'
import { IS_FACT } from './log-rows.ts'
import type { Dialect, Statement } from './sql.ts'

/** The time of a fact. */
export const FACT_TIME = 'coalesce(occurred_at, at)'

/** The sum of movements. Those that a count includes are not limited by the stock, and a double never overflows. */
const UNITS = 'coalesce(sum(CAST(delta AS DOUBLE PRECISION)), 0.0)'

/** A fact is recorded at most MAX_AHEAD_MS before its time. The rest covers commits that wait, and clocks that differ. */
const RECORDED_BEFORE_MS = MAX_AHEAD_MS + HOUR

interface FactStatement extends Statement {
  toAnswer(rows: readonly unknown[]): FactAnswer
}

/** A log row that takes back the count of `document` of the pet. */
const isTakenBack = (document: string, petId: string) =>
  `EXISTS (SELECT 1 FROM log AS reversal WHERE reversal.reverses = ${document} AND reversal.pet_id = ${petId})`

/** The id of a log row before all rows of facts that can be later than `time`. */
const lastIdBefore = (time: string) =>
  `coalesce((SELECT id FROM log WHERE at < ${time} - ${RECORDED_BEFORE_MS} ORDER BY at DESC, id DESC LIMIT 1), 0)`

/** The same for one pet. Facts from before its removal are not its own any more, even if clocks that differ put them later. */
const lastFactBefore = (petId: string, time: string) =>
  `coalesce((
    SELECT max(id) FROM log WHERE pet_id = ${petId} AND kind = 'removed' AND id > ${lastIdBefore(time)}
  ), ${lastIdBefore(time)})`

/**
 * Selects the latest count of a pet that was not taken back, and the stock that follows from it: `time`, `id` and `quantity`.
 * Facts of one millisecond are in the order in which they were recorded; a correction comes right after what it corrects.
 * `condition` is a condition on the count. The count that was applied last bounds the facts that are read: the latest count is
 * not earlier.
 */
export function stockFromFacts(petId: string, condition = 'true'): string {
  const isCount = `pet_id = ${petId} AND ${IS_FACT} AND counted IS NOT NULL AND NOT ${isTakenBack('log.document', petId)} AND ${condition}`
  const latestApplied = `(SELECT ${FACT_TIME} FROM log WHERE ${isCount} AND effect IS NULL ORDER BY id DESC LIMIT 1)`
  return `
  SELECT count.time, count.id, count.counted + (
    SELECT ${UNITS} FROM log WHERE pet_id = ${petId} AND ${IS_FACT} AND delta IS NOT NULL AND log.id > count.earlier_id
      AND (${FACT_TIME} > count.time OR (
        ${FACT_TIME} = count.time AND CASE WHEN reason = 'correction' THEN reverses ELSE log.id END > count.id))
    ) AS quantity
  FROM (
    SELECT ${FACT_TIME} AS time, log.id, counted, earlier_id
    FROM (SELECT ${lastFactBefore(petId, latestApplied)} AS earlier_id) AS start CROSS JOIN log
    WHERE ${isCount} AND log.id > earlier_id
    ORDER BY ${FACT_TIME} DESC, log.id DESC LIMIT 1
  ) AS count`
}

/** The time from which the log is complete. No row if nothing was pruned; null if everything was. */
export const historyStart = ({ isLogPruned }: Dialect) =>
  `SELECT (SELECT at FROM log ORDER BY id LIMIT 1) AS start FROM log_state WHERE ${isLogPruned}`

/** The latest time that a Date can have. */
const END_OF_TIME = 8.64e15

/** `undefined` if nothing was pruned, END_OF_TIME if everything was. */
export function toHistoryStart([row]: readonly unknown[]): number | undefined {
  if (row === undefined) return undefined
  const { start } = row as { readonly start: bigint | null }
  return start === null ? END_OF_TIME : Number(start)
}

function factStatement(dialect: Dialect, question: FactQuestion): FactStatement {
  switch (question.type) {
    case 'history_start':
      return { text: historyStart(dialect), values: [], toAnswer: toHistoryStart }
    case 'later_units':
      return {
        text: `SELECT ${UNITS} AS units FROM log
          WHERE pet_id = $1 AND ${IS_FACT} AND delta IS NOT NULL AND ${FACT_TIME} > CAST($2 AS BIGINT)
            AND id > ${lastFactBefore('$1', 'CAST($2 AS BIGINT)')}`,
        values: [question.petId, question.time],
        toAnswer: ([row]) => (row as { readonly units: number }).units,
      }
    case 'reversed_units':
      return {
        text: `SELECT pet_id, ${REVERSED_UNITS} AS units FROM log WHERE reverses = $1 GROUP BY pet_id`,
        values: [question.document],
        toAnswer: (rows) =>
          new Map(
            (rows as { readonly pet_id: bigint; readonly units: bigint }[]).map(
              ({ pet_id, units }) => [pet_id, Number(units)] as const,
            ),
          ),
      }
    case 'stock_without_count':
      return {
        text: `
          SELECT other.time, other.quantity, start, own.time < other.time OR (own.time = other.time AND own.id < other.id) AS is_later
          FROM (${stockFromFacts('$1', 'document <> $2')}) AS other
          CROSS JOIN (SELECT ${FACT_TIME} AS time, id FROM log WHERE pet_id = $1 AND document = $2 AND ${IS_FACT}) AS own
          LEFT JOIN (${historyStart(dialect)}) AS history ON true`,
        values: [question.petId, question.document],
        toAnswer: ([row]) => toStockWithoutCount(row),
      }
    case 'was_counted_next':
      return {
        text: `SELECT 1 FROM log WHERE pet_id = $1 AND id > $2 AND ${IS_FACT} AND counted IS NOT NULL AND ${FACT_TIME} = CAST($3 AS BIGINT)
          AND NOT ${isTakenBack('log.document', '$1')} LIMIT 1`,
        values: [question.petId, question.document, question.time],
        toAnswer: (rows) => rows.length > 0,
      }
  }
}

/** The units that the rows have reversed. A reversed count has 1. */
export const REVERSED_UNITS = 'CAST(sum(CASE WHEN delta IS NULL THEN 1 ELSE abs(delta) END) AS BIGINT)'

function toStockWithoutCount(row: unknown): FactAnswer<'stock_without_count'> {
  if (row === undefined) return undefined
  const { time, quantity, start, is_later } = row as {
    readonly time: bigint
    readonly quantity: number
    readonly start: bigint | null
    readonly is_later: boolean | bigint
  }
  if (start !== null && time < start) return undefined
  return { quantity, countedAt: Number(time), isLater: Boolean(Number(is_later)) }
}

/**
 * Calls `decide` until it has all the facts that it needs. Yields the statements that read them, which the caller must run under
 * the locks of the commit.
 */
export function* decideWithFacts<Decision>(
  dialect: Dialect,
  decide: (facts: FactAnswers) => Decision,
): Generator<Statement, Decision, readonly unknown[]> {
  const answers = new Map<string, FactAnswer>()
  for (;;) {
    const decided = decideOrAsk(decide, answers)
    if (!(decided instanceof FactsNeeded)) return decided
    for (const question of decided.questions) {
      const { toAnswer, ...statement } = factStatement(dialect, question)
      answers.set(questionId(question), toAnswer(yield statement))
    }
  }
}

function decideOrAsk<Decision>(
  decide: (facts: FactAnswers) => Decision,
  answers: FactAnswers,
): Decision | FactsNeeded {
  try {
    return decide(answers)
  } catch (error) {
    if (error instanceof FactsNeeded) return error
    throw error
  }
}
