import Database from 'better-sqlite3'
import type { PeerKey } from './gate.ts'
import {
  ADD_ORDER,
  ADJUST,
  FIND_AVAILABLE,
  FIND_KEY,
  type InventoryRow,
  LIST,
  openOrder,
  type PeerAdjustment,
  type PeerDraft,
  RECORD,
  RECORD_ADJUSTED,
  RESERVE,
  Refused,
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
  const reserve = database.prepare<[number, number, number], { petId: number }>(RESERVE)
  const available = database.prepare<[number], { available: number }>(FIND_AVAILABLE)
  const addOrder = database.prepare<[number, number, number, string], { id: number }>(ADD_ORDER)
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
        if (row === undefined || row.quantity < 0) throw new Refused(row?.petId)
        recordAdjusted.run(petId, row.quantity, now, keyId, reason)
        return row
      })
    }),
    // It takes the lock of the writer at once, since it is going to write.
    order: database.transaction((draft: PeerDraft, keyId: string) => {
      const { petId, quantity } = draft
      if (reserve.get(quantity, petId, quantity) === undefined)
        throw new Refused(available.get(petId) ? petId : undefined)
      const now = Date.now()
      const added = addOrder.get(petId, quantity, now, keyId)
      if (added === undefined) throw new Error('the order got no id')
      return openOrder(draft, added.id, now)
    }).immediate,
  }
}
