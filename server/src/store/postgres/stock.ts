import { parseInt64 } from '../../core/int64.ts'
import type {
  HistoryEntry,
  InventoryItem,
  PetStatus,
  QuantityChange,
  QuantityOutcome,
} from '../../core/inventory.ts'
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

interface HistoryRow {
  pet_id: bigint
  before: bigint
  after: bigint
  at: bigint
  key_id: string
}

interface NamedHistoryRow extends HistoryRow {
  id: bigint
  name: string | null
}

type StockVerbs = Pick<Store, 'listInventory' | 'setQuantities' | 'listHistory' | 'listHistoryPage'>

const HIGHEST_ID = 2n ** 63n - 1n

export function stockVerbs(connection: Connection): StockVerbs {
  return {
    listInventory: async () => {
      const rows = await connection.run(
        (sql) => sql<StockRow[]>`SELECT pet_id, quantity, status FROM stock ORDER BY pet_id`,
      )
      return rows.map(toItem)
    },

    // One statement, hence one way to the database and one transaction: see set_quantities in the migrations.
    setQuantities: async (changes) => {
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
    },

    listHistory: async (petId) => {
      const rows = await connection.run(
        (sql) => sql<HistoryRow[]>`
          SELECT pet_id, before, after, at, key_id FROM history WHERE pet_id = ${petId} ORDER BY id`,
      )
      return rows.map(toHistoryEntry)
    },

    listHistoryPage: async (petId, limit, cursor) => {
      const before = cursor === undefined ? HIGHEST_ID : parseInt64(cursor)
      if (before === undefined) return 'unknown_cursor'
      // One more than asked for tells whether there is a next page.
      const rows = await connection.run(
        (sql) => sql<NamedHistoryRow[]>`
          SELECT history.id, pet_id, before, after, at, key_id, name
          FROM history LEFT JOIN keys ON keys.id = key_id
          WHERE pet_id = ${petId} AND history.id < ${before} ORDER BY history.id DESC LIMIT ${limit + 1}::bigint`,
      )
      const entries = rows.slice(0, limit).map((row) => ({
        id: String(row.id),
        ...toHistoryEntry(row),
        keyName: row.name ?? row.key_id,
      }))
      return { entries, next: rows.length > limit ? entries.at(-1)?.id : undefined }
    },
  }
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

function toHistoryEntry(row: HistoryRow): HistoryEntry {
  return {
    petId: row.pet_id,
    before: Number(row.before),
    after: Number(row.after),
    at: Number(row.at),
    keyId: row.key_id,
  }
}
