import type { HistoryEntry, InventoryItem, PetStatus } from '../../core/inventory.ts'
import type { Store } from '../../core/store.ts'
import type { Connection } from './connection.ts'

interface StockRow {
  pet_id: bigint
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

type StockVerbs = Pick<Store, 'listInventory' | 'setQuantities' | 'listHistory'>

export function stockVerbs(connection: Connection): StockVerbs {
  const { database } = connection
  const all = database.query<StockRow, []>('SELECT pet_id, quantity, status FROM stock ORDER BY pet_id')
  const one = database.query<StockRow, [bigint]>(
    'SELECT pet_id, quantity, status FROM stock WHERE pet_id = ?',
  )
  const update = database.query<unknown, [number, bigint]>('UPDATE stock SET quantity = ? WHERE pet_id = ?')
  const record = database.query<unknown, [bigint, number, number, number, string]>(
    'INSERT INTO history (pet_id, before, after, at, key_id) VALUES (?, ?, ?, ?, ?)',
  )
  const history = database.query<HistoryRow, [bigint]>(
    'SELECT pet_id, before, after, at, key_id FROM history WHERE pet_id = ? ORDER BY id',
  )

  return {
    listInventory: () => connection.read(() => all.all().map(toItem)),

    setQuantities: (changes) =>
      connection.write(() =>
        changes.map(({ petId, quantity, keyId, at }) => {
          const row = one.get(petId)
          if (row === null) return 'unknown_pet'
          const before = Number(row.quantity)
          if (before !== quantity) {
            update.run(quantity, petId)
            record.run(petId, before, quantity, at, keyId)
          }
          return { petId, quantity, status: row.status }
        }),
      ),

    listHistory: (petId) => connection.read(() => history.all(petId).map(toHistoryEntry)),
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
