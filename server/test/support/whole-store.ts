import { SYSTEM_KEY_ID } from '../../src/core/stock/change-origin.ts'
import type { HistoryEntry } from '../../src/core/stock/history.ts'
import type { InventoryItem } from '../../src/core/stock/inventory.ts'
import type { HistoryStore, StockStore } from '../../src/core/stock/stock-store.ts'

/** Every entry, by petId ascending. */
export async function stockOf(store: Pick<StockStore, 'loadStock'>): Promise<InventoryItem[]> {
  const entries: InventoryItem[] = []
  await store.loadStock((items) => entries.push(...items))
  return entries
}

/** The changes of one pet, oldest first, without the quantity with which `addPets` has created it. */
export async function historyOf(
  store: Pick<HistoryStore, 'listHistoryPage'>,
  petId: bigint,
): Promise<Omit<HistoryEntry, 'id' | 'keyName'>[]> {
  const entries: Omit<HistoryEntry, 'id' | 'keyName'>[] = []
  let cursor: string | undefined
  do {
    const page = await store.listHistoryPage(petId, 500, cursor)
    for (const { id: _, keyName: __, ...entry } of page.rows) {
      if (entry.keyId !== SYSTEM_KEY_ID || entry.before > 0) entries.push(entry)
    }
    cursor = page.next
  } while (cursor !== undefined)
  return entries.reverse()
}
