import { type InventoryItem, isAllowed, type PetStatus } from '../../core/inventory.ts'
import type { Store } from '../../core/store.ts'
import type { Connection } from './connection.ts'

interface StockRow {
  pet_id: bigint
  quantity: bigint
  status: PetStatus
}

type StockVerbs = Pick<Store, 'listInventory' | 'setQuantities'>

export function stockVerbs(connection: Connection): StockVerbs {
  const { database } = connection
  const all = database.query<StockRow, []>('SELECT pet_id, quantity, status FROM stock ORDER BY pet_id')
  const one = database.query<Omit<StockRow, 'pet_id'> & { last_change: bigint | null }, [bigint]>(
    'SELECT quantity, status, last_change FROM stock WHERE pet_id = ?',
  )
  // Sets the quantity as well, by the trigger on the history.
  const record = database.query<unknown, [bigint, number, number, number, string, PetStatus, bigint | null]>(
    'INSERT INTO history (pet_id, before, after, at, key_id, status, previous) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )

  return {
    listInventory: () => connection.read(() => all.all().map(toItem)),

    setQuantities: (changes) =>
      connection.write(() =>
        changes.map((change) => {
          const { petId, quantity, keyId, at } = change
          const row = one.get(petId)
          if (row === null) return 'unknown_pet'
          const found = { petId, quantity: Number(row.quantity), status: row.status }
          if (!isAllowed(change, found)) return { conflict: found }
          if (found.quantity !== quantity) {
            record.run(petId, found.quantity, quantity, at, keyId, found.status, row.last_change)
          }
          return { petId, quantity, status: row.status }
        }),
      ),
  }
}

function toItem(row: StockRow): InventoryItem {
  return { petId: row.pet_id, quantity: Number(row.quantity), status: row.status }
}
