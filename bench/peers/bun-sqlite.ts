import { Database } from 'bun:sqlite'
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

/** The stock in bun:sqlite, as its documentation shows: prepared statements, WAL, a transaction function. */
export function openInventory(path: string) {
  const database = new Database(path)
  database.run('PRAGMA journal_mode = WAL')
  database.run('PRAGMA synchronous = FULL')
  const all = database.query<InventoryRow, []>(LIST)
  const update = database.query<InventoryRow, [number, number]>(UPDATE)
  const record = database.query<unknown, [number, number, number, string]>(RECORD)
  const adjustOne = database.query<InventoryRow, [number, number]>(ADJUST)
  const recordAdjusted = database.query<unknown, [number, number, number, string, string]>(RECORD_ADJUSTED)
  const key = database.query<PeerKey, [string]>(FIND_KEY)

  return {
    list: () => all.all(),
    findKey: (hash: string) => key.get(hash) ?? undefined,
    setQuantity: database.transaction((petId: number, quantity: number, keyId: string) => {
      const row = update.get(quantity, petId)
      if (row !== null) record.run(petId, quantity, Date.now(), keyId)
      return row
    }),
    adjust: database.transaction(({ reason, changes }: PeerAdjustment, keyId: string) => {
      const now = Date.now()
      return changes.map(({ petId, delta }) => {
        const row = adjustOne.get(delta, petId)
        if (row === null || row.quantity < 0) throw new AdjustmentRefused(row)
        recordAdjusted.run(petId, row.quantity, now, keyId, reason)
        return row
      })
    }),
  }
}
