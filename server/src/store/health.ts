import { stockFromFacts } from './facts.ts'
import { THRESHOLD } from './low-stock.ts'
import { RESERVING_STATES } from './order-rows.ts'

/** An invariant of the tables. */
export interface Check {
  /** Selects the ids of the rows that violate the invariant. */
  readonly text: string
  /** Such as "pets without a stock entry". */
  readonly problem: string
}

const MAX_NAMED_IDS = 20

/** Selects the number of rows that violate the invariant, and the ids of some of them. */
export function violationsSql({ text }: Check): string {
  return `SELECT CAST(id AS TEXT) AS id, (SELECT count(*) FROM (${text}) AS counted) AS found
    FROM (${text}) AS violations ORDER BY violations.id LIMIT ${MAX_NAMED_IDS}`
}

export interface Violation {
  readonly id: string
  readonly found: bigint
}

/** Returns an empty list if there is no violation. */
export function describeViolations({ problem }: Check, violations: readonly Violation[]): string[] {
  const [first] = violations
  if (first === undefined) return []
  const ids = violations.map(({ id }) => id).join(', ')
  const more = first.found > violations.length ? ', …' : ''
  return [`${problem}: ${first.found} (${ids}${more})`]
}

export const CHECKS: readonly Check[] = [
  {
    text: 'SELECT id FROM pets WHERE NOT EXISTS (SELECT 1 FROM stock WHERE pet_id = pets.id)',
    problem: 'pets without a stock entry',
  },
  {
    text: 'SELECT id FROM pets WHERE NOT EXISTS (SELECT 1 FROM categories WHERE id = pets.category_id)',
    problem: 'pets whose category does not exist',
  },
  {
    text: `SELECT pet_id AS id FROM stock JOIN pets ON pets.id = pet_id
        LEFT JOIN categories ON categories.id = category_id
        WHERE threshold_change IS NULL AND low_at IS DISTINCT FROM ${THRESHOLD}`,
    problem: 'pets whose low-stock threshold is neither their own nor that of their category',
  },
  {
    // A pet whose latest count was pruned is left out.
    text: `SELECT pet_id AS id FROM stock WHERE quantity <> (
        SELECT facts.quantity FROM (${stockFromFacts('stock.pet_id')}) AS facts WHERE facts.time = stock.counted_at)`,
    problem:
      'pets whose stock was edited by hand, because it differs from their latest count and the adjustments since',
  },
  {
    text: `SELECT stock.pet_id AS id FROM stock
        LEFT JOIN (
          SELECT pet_id, sum(quantity) AS held FROM order_lines WHERE state IN ${RESERVING_STATES} GROUP BY pet_id
        ) AS reserving ON reserving.pet_id = stock.pet_id
        WHERE reserved <> coalesce(held, 0)`,
    problem: 'pets whose reserved units differ from the lines of their open orders',
  },
  {
    text: `SELECT order_id AS id FROM order_lines
        WHERE state IN ${RESERVING_STATES} AND NOT EXISTS (SELECT 1 FROM stock WHERE stock.pet_id = order_lines.pet_id)`,
    problem: 'open orders for pets that have no stock entry',
  },
  {
    text: `SELECT id FROM orders WHERE NOT EXISTS (SELECT 1 FROM order_lines WHERE order_id = id) OR EXISTS (
        SELECT 1 FROM order_lines WHERE order_id = id
          AND (order_lines.state <> orders.state OR order_lines.hold_until IS DISTINCT FROM orders.hold_until))`,
    problem: 'orders whose lines are missing or in another state',
  },
  {
    text: 'SELECT id FROM keys WHERE NOT EXISTS (SELECT 1 FROM key_secrets WHERE key_id = keys.id)',
    problem: 'keys without a secret',
  },
]
