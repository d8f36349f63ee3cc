import type { InventoryItem, PetStatus, QuantityChange, QuantityOutcome } from '../../core/inventory.ts'
import type { Store } from '../../core/store.ts'
import { columnOf } from './columns.ts'
import type { Connection } from './connection.ts'

interface StockRow {
  pet_id: bigint
  quantity: bigint
  status: PetStatus
}

interface OutcomeRow {
  outcome: 'set' | 'conflict' | 'unknown_pet'
  quantity: bigint
  status: PetStatus
}

type StockVerbs = Pick<Store, 'listInventory' | 'setQuantities'>

export function stockVerbs(connection: Connection): StockVerbs {
  return {
    listInventory: async () => {
      const rows = await connection.run(
        (sql) => sql<StockRow[]>`SELECT pet_id, quantity, status FROM stock ORDER BY pet_id`,
      )
      return rows.map(toItem)
    },

    // One statement in either case, hence one way to the database and one transaction.
    setQuantities: async (changes) =>
      changes.some(({ onlyIf }) => onlyIf !== undefined)
        ? setConditionally(connection, changes)
        : setAll(connection, changes),
  }
}

/**
 * The rows are locked in the order of their ids, whatever the order of the changes, so two batches that name the same
 * pets wait for each other and never deadlock. What stood before a change is what the one before it set, or what was
 * found under the lock: the statement's own snapshot may be older than that.
 */
async function setAll(
  connection: Connection,
  changes: readonly QuantityChange[],
): Promise<QuantityOutcome[]> {
  const rows = await connection.run((sql) => {
    const petIds = columnOf(sql, changes, 'BIGINT', ({ petId }) => petId)
    return sql<{ number: bigint; status: PetStatus }[]>`
      WITH locked AS MATERIALIZED (
        SELECT pet_id, quantity, status FROM stock WHERE pet_id = ANY (${petIds}) ORDER BY pet_id FOR NO KEY UPDATE
      ), steps AS MATERIALIZED (
        SELECT asked.*, locked.status, locked.quantity AS held,
          coalesce(lag(asked.quantity) OVER same, locked.quantity) AS before,
          lead(asked.quantity) OVER same IS NULL AS is_last
        FROM unnest(${petIds},
          ${columnOf(sql, changes, 'BIGINT', ({ quantity }) => quantity)},
          ${columnOf(sql, changes, 'TEXT', ({ keyId }) => keyId)},
          ${columnOf(sql, changes, 'BIGINT', ({ at }) => at)}
        ) WITH ORDINALITY AS asked (pet_id, quantity, key_id, at, number)
        JOIN locked ON locked.pet_id = asked.pet_id
        WINDOW same AS (PARTITION BY asked.pet_id ORDER BY number)
      ), updated AS (
        UPDATE stock SET quantity = steps.quantity FROM steps
        WHERE is_last AND steps.quantity <> held AND stock.pet_id = steps.pet_id
      ), recorded AS (
        INSERT INTO history (pet_id, before, after, at, key_id, status)
        SELECT pet_id, before, quantity, at, key_id, status FROM steps WHERE before <> quantity ORDER BY number
      )
      SELECT number, status FROM steps`
  })
  const outcomes: QuantityOutcome[] = changes.map(() => 'unknown_pet')
  for (const { number, status } of rows) {
    const index = Number(number) - 1
    const { petId, quantity } = changes[index] as QuantityChange
    outcomes[index] = { petId, quantity, status }
  }
  return outcomes
}

/** Whether a change is made depends on those before it, and that takes a loop: see set_quantities. */
async function setConditionally(
  connection: Connection,
  changes: readonly QuantityChange[],
): Promise<QuantityOutcome[]> {
  const rows = await connection.run(
    (sql) => sql<OutcomeRow[]>`
      SELECT outcome, quantity, status FROM set_quantities(
        ${columnOf(sql, changes, 'BIGINT', ({ petId }) => petId)},
        ${columnOf(sql, changes, 'BIGINT', ({ quantity }) => quantity)},
        ${columnOf(sql, changes, 'TEXT', ({ keyId }) => keyId)},
        ${columnOf(sql, changes, 'BIGINT', ({ at }) => at)},
        ${columnOf(sql, changes, 'TEXT', conditionOf)})`,
  )
  return changes.map(({ petId }, index) => toOutcome(petId, rows[index]))
}

/** Like `5 available,6 sold`; set_quantities looks for what it finds in there. */
function conditionOf({ onlyIf }: QuantityChange): string | null {
  if (onlyIf === undefined) return null
  return onlyIf.map(({ quantity, status }) => `${quantity} ${status}`).join()
}

function toOutcome(petId: bigint, row: OutcomeRow | undefined): QuantityOutcome {
  if (row === undefined) throw new Error('the database gave no outcome for a change')
  if (row.outcome === 'unknown_pet') return 'unknown_pet'
  const item: InventoryItem = { petId, quantity: Number(row.quantity), status: row.status }
  return row.outcome === 'conflict' ? { conflict: item } : item
}

export function toItem(row: StockRow): InventoryItem {
  return { petId: row.pet_id, quantity: Number(row.quantity), status: row.status }
}
