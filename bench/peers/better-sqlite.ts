import Database from 'better-sqlite3'
import type { PeerKey } from './gate.ts'
import {
  ADJUST,
  AdjustmentRefused,
  FIND_KEY,
  type InventoryRow,
  LIST,
  type PeerAdjustment,
  RECORD,
  RECORD_ADJUSTED,
  UPDATE,
} from './statements.ts'

/** The stock in better-sqlite3, as its README shows: prepared statements, WAL, a transaction function. */
export function openInventory(path: string) {
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  // better-sqlite3 is built to sync less in WAL mode: FULL has to be asked for.
  database.pragma('synchronous = FULL')
  const all = database.prepare<[], InventoryRow>(LIST)
  const update = database.prepare<[number, number], InventoryRow>(UPDATE)
  const record = database.prepare<[number, number, number, string]>(RECORD)
  const adjustOne = database.prepare<[number, number], InventoryRow>(ADJUST)
  const recordAdjusted = database.prepare<[number, number, number, string, string]>(RECORD_ADJUSTED)
  const key = database.prepare<[string], PeerKey>(FIND_KEY)

  return {
    list: () => all.all(),
    findKey: (hash: string) => key.get(hash),
    setQuantity: database.transaction((petId: number, quantity: number, keyId: string) => {
      const row = update.get(quantity, petId)
      if (row !== undefined) record.run(petId, quantity, Date.now(), keyId)
      return row
    }),
    adjust: database.transaction(({ reason, changes }: PeerAdjustment, keyId: string) => {
      const now = Date.now()
      return changes.map(({ petId, delta }) => {
        const row = adjustOne.get(delta, petId)
        if (row === undefined || row.quantity < 0) throw new AdjustmentRefused(row)
        recordAdjusted.run(petId, row.quantity, now, keyId, reason)
        return row
      })
    }),
  }
}
