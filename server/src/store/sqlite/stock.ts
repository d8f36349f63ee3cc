import {
  type InventoryItem,
  isAllowed,
  type PetStatus,
  type QuantityChange,
  type QuantityOutcome,
} from '../../core/stock/inventory.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'
import type { LateStock } from './late-stock.ts'

interface StockRow {
  pet_id: bigint
  quantity: bigint
  status: PetStatus
}

type StockVerbs = Pick<Store, 'listInventory' | 'setQuantities'>

export function stockVerbs(connection: Connection, late: LateStock): StockVerbs {
  const all = connection.database.query<StockRow, []>(
    'SELECT pet_id, quantity, status FROM stock ORDER BY pet_id',
  )

  function set(change: QuantityChange): QuantityOutcome {
    const { petId, quantity, keyId, at } = change
    const place = late.find(petId)
    if (place === undefined) return 'unknown_pet'
    const found = { petId, quantity: late.quantityAt(place), status: late.statusAt(place) }
    if (!isAllowed(change, found)) return { conflict: found }
    if (found.quantity === quantity) return found
    late.change(place, petId, quantity, at, keyId)
    return { petId, quantity, status: found.status }
  }

  return {
    listInventory: () => connection.read(() => all.all().map(toItem)),
    setQuantities: (changes) => late.write(() => changes.map(set)),
  }
}

function toItem(row: StockRow): InventoryItem {
  return { petId: row.pet_id, quantity: Number(row.quantity), status: row.status }
}
