import Database from 'better-sqlite3'
import type { PeerKey } from './gate.ts'
import { FIND_KEY, type InventoryRow, LIST, RECORD, UPDATE } from './statements.ts'

/** The stock in better-sqlite3, as its README shows: prepared statements, WAL, a transaction function. */
export function openInventory(path: string) {
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  // better-sqlite3 is built to sync less in WAL mode: FULL has to be asked for.
  database.pragma('synchronous = FULL')
  const all = database.prepare<[], InventoryRow>(LIST)
  const update = database.prepare<[number, number], InventoryRow>(UPDATE)
  const record = database.prepare<[number, number, number, string]>(RECORD)
  const key = database.prepare<[string], PeerKey>(FIND_KEY)

  return {
    list: () => all.all(),
    findKey: (hash: string) => key.get(hash),
    setQuantity: database.transaction((petId: number, quantity: number, keyId: string) => {
      const row = update.get(quantity, petId)
      if (row !== undefined) record.run(petId, quantity, Date.now(), keyId)
      return row
    }),
  }
}
