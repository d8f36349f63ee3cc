import type { InventoryItem, PetStatus } from '../../core/stock/inventory.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'
import type { StockWriter } from './stock-writer.ts'

export interface StockRow {
  pet_id: bigint
  quantity: bigint
  status: PetStatus
}

type StockVerbs = Pick<Store, 'listInventory' | 'setQuantities'>

export function stockVerbs(connection: Connection, writer: StockWriter): StockVerbs {
  return {
    listInventory: async () => {
      const rows = await connection.run(
        (sql) => sql<StockRow[]>`SELECT pet_id, quantity, status FROM stock ORDER BY pet_id`,
      )
      return rows.map(toItem)
    },

    setQuantities: (changes) => writer.write(changes),
  }
}

export function toItem(row: StockRow): InventoryItem {
  return { petId: row.pet_id, quantity: Number(row.quantity), status: row.status }
}
