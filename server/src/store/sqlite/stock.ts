import { parseInt64 } from '../../core/int64.ts'
import { type HistoryEntry, type InventoryItem, isAllowed, type PetStatus } from '../../core/inventory.ts'
import type { Store } from '../../core/store.ts'
import type { Connection } from './connection.ts'

interface StockRow {
  pet_id: bigint
  quantity: bigint
  status: PetStatus
}

interface NamedHistoryRow extends HistoryRow {
  id: bigint
  name: string | null
}

interface HistoryRow {
  pet_id: bigint
  before: bigint
  after: bigint
  at: bigint
  key_id: string
}

type StockVerbs = Pick<Store, 'listInventory' | 'setQuantities' | 'listHistory' | 'listHistoryPage'>

const HIGHEST_ID = 2n ** 63n - 1n

export function stockVerbs(connection: Connection): StockVerbs {
  const { database } = connection
  const all = database.query<StockRow, []>('SELECT pet_id, quantity, status FROM stock ORDER BY pet_id')
  const one = database.query<StockRow, [bigint]>(
    'SELECT pet_id, quantity, status FROM stock WHERE pet_id = ?',
  )
  const update = database.query<unknown, [number, bigint]>('UPDATE stock SET quantity = ? WHERE pet_id = ?')
  const record = database.query<unknown, [bigint, number, number, number, string, PetStatus]>(
    'INSERT INTO history (pet_id, before, after, at, key_id, status) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const history = database.query<HistoryRow, [bigint]>(
    'SELECT pet_id, before, after, at, key_id FROM history WHERE pet_id = ? ORDER BY id',
  )
  const historyPage = database.query<NamedHistoryRow, [bigint, bigint, number]>(`
    SELECT history.id, pet_id, before, after, at, key_id, name
    FROM history LEFT JOIN keys ON keys.id = key_id
    WHERE pet_id = ? AND history.id < ? ORDER BY history.id DESC LIMIT ?
  `)

  return {
    listInventory: () => connection.read(() => all.all().map(toItem)),

    setQuantities: (changes) =>
      connection.write(() =>
        changes.map((change) => {
          const { petId, quantity, keyId, at } = change
          const row = one.get(petId)
          if (row === null) return 'unknown_pet'
          const found = toItem(row)
          if (!isAllowed(change, found)) return { conflict: found }
          if (found.quantity !== quantity) {
            update.run(quantity, petId)
            record.run(petId, found.quantity, quantity, at, keyId, found.status)
          }
          return { ...found, quantity }
        }),
      ),

    listHistory: (petId) => connection.read(() => history.all(petId).map(toHistoryEntry)),

    listHistoryPage: (petId, limit, cursor) =>
      connection.read(() => {
        const before = cursor === undefined ? HIGHEST_ID : parseInt64(cursor)
        if (before === undefined) return 'unknown_cursor'
        // One more than asked for tells whether there is a next page.
        const rows = historyPage.all(petId, before, limit + 1)
        const entries = rows.slice(0, limit).map((row) => ({
          id: String(row.id),
          ...toHistoryEntry(row),
          keyName: row.name ?? row.key_id,
        }))
        return { entries, next: rows.length > limit ? entries.at(-1)?.id : undefined }
      }),
  }
}

function toItem(row: StockRow): InventoryItem {
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
