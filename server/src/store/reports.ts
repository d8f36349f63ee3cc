import type { TimeRange } from '../core/reports/days.ts'
import type { Grouping, MovementSum, ReportStore } from '../core/reports/report-store.ts'
import { historyStart, toHistoryStart } from './facts.ts'
import { IS_FACT } from './log-rows.ts'
import type { SqlDatabase } from './sql.ts'

/** The number of log rows that one statement sums. It takes about as long as a step of a list of the history. */
const ROWS_PER_STEP = 20_000

/** How the facts are divided: the SQL of a group's id and name, and a join that they need. */
interface GroupSql {
  readonly id: string
  readonly name: string
  readonly join: string
}

const GROUPS: Readonly<Record<Grouping, GroupSql>> = {
  none: { id: 'NULL', name: 'NULL', join: '' },
  pet: {
    id: 'pet_id',
    name: '(SELECT name FROM pets WHERE id = CAST("group" AS BIGINT))',
    join: '',
  },
  category: {
    id: 'category_id',
    name: '(SELECT name FROM categories WHERE id = CAST("group" AS BIGINT))',
    join: 'LEFT JOIN pets ON pets.id = pet_id',
  },
  key: { id: 'key_id', name: '(SELECT name FROM keys WHERE id = "group")', join: '' },
}

/** The facts that a condition selects, with the reason under which they count. A count has no delta. */
const factsWhere = (condition: string) => `
  SELECT pet_id, key_id, coalesce(after, 0) - before AS change, delta,
    reverses IS NOT NULL AND coalesce(reason, '') <> 'returned' AS is_correction,
    CASE
      WHEN delta IS NULL THEN 'counted'
      WHEN reason = 'correction' THEN coalesce(
        (SELECT reversed.reason FROM log AS reversed WHERE reversed.id = log.reverses), 'corrected')
      ELSE coalesce(reason, 'corrected')
    END AS reason
  FROM log WHERE ${IS_FACT} AND ${condition}`

/**
 * Sums by group and reason. Whatever a movement states and the quantity does not follow, because a count had included it
 * already, counts in the opposite direction as counted. A correction takes back what was counted in its direction. The sums
 * are doubles: exact up to 2^53, and they never overflow. MATERIALIZED, because PostgreSQL would otherwise evaluate the reason
 * of a fact five times.
 */
const sumsOf = ({ id, name, join }: GroupSql, facts: string) => `
  WITH facts AS MATERIALIZED (${facts})
  SELECT summed.*, ${name} AS name FROM (
    SELECT CAST(${id} AS TEXT) AS "group", reason, sum(CAST(units AS DOUBLE PRECISION)) AS units,
      sum(CAST(change - units AS DOUBLE PRECISION)) AS counted,
      sum(CAST(CASE WHEN (change < units) = is_correction THEN change - units ELSE 0 END AS DOUBLE PRECISION)) AS "countedUp"
    FROM (
      SELECT pet_id, key_id, reason, change, is_correction,
        CASE WHEN reason = 'counted' THEN 0 ELSE delta END AS units
      FROM facts
    ) AS measured ${join} GROUP BY 1, 2
  ) AS summed`

/** The time of a fact is in one of these columns. Each has an index. */
const TIMES = [
  { column: 'occurred_at', condition: 'true' },
  { column: 'at', condition: 'occurred_at IS NULL' },
] as const

/** PostgreSQL estimates the size of the range from the plain comparisons, and would scan the log without them. */
const isBetween = (time: string) =>
  `${time} >= $1 AND ${time} <= $3 AND (${time}, id) >= ($1, $2) AND (${time}, id) < ($3, $4)`

/** The place of the first row of the next step. */
const nextStep = (time: string) => `
  SELECT ${time} AS time, id FROM log WHERE (${time}, id) >= ($1, $2) AND ${time} < $3
  ORDER BY ${time}, id LIMIT 1 OFFSET $4`

export function reportMethods(
  database: Pick<SqlDatabase, 'rows' | 'dialect'>,
  rowsPerStep = ROWS_PER_STEP,
): ReportStore {
  return {
    sumMovements: async ({ since, until }: TimeRange, grouping, onSums) => {
      const group = GROUPS[grouping]
      for (const { column, condition } of TIMES) {
        const sums = sumsOf(group, factsWhere(`${condition} AND ${isBetween(column)}`))
        let from: Place | undefined = { time: BigInt(since), id: 0n }
        while (from !== undefined) {
          const { time, id }: Place = from
          const [next]: Place[] = await database.rows<Place>(nextStep(column), time, id, until, rowsPerStep)
          const end = next ?? { time: BigInt(until), id: 0n }
          onSums(await database.rows<MovementSum>(sums, time, id, end.time, end.id))
          from = next
        }
      }
    },

    historyStart: async () => toHistoryStart(await database.rows(historyStart(database.dialect))),
  }
}

/** The place of a row among the facts by time. Ids are positive. */
interface Place {
  readonly time: bigint
  readonly id: bigint
}
