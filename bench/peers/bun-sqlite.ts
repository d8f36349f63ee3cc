import { Database } from 'bun:sqlite'
import type { PeerKey } from './gate.ts'
import { searchIn } from './search.ts'
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
  const reserve = database.query<{ petId: number }, [number, number, number]>(RESERVE)
  const available = database.query<{ available: number }, [number]>(FIND_AVAILABLE)
  const addOrder = database.query<{ id: number }, [number, number, number, string]>(ADD_ORDER)
  const key = database.query<PeerKey, [string]>(FIND_KEY)

  return {
    list: () => all.all(),
    search: searchIn(database),
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
        if (row === null || row.quantity < 0) throw new Refused(row?.petId)
        recordAdjusted.run(petId, row.quantity, now, keyId, reason)
        return row
      })
    }),
    // It takes the lock of the writer at once, since it is going to write.
    order: database.transaction((draft: PeerDraft, keyId: string) => {
      const { petId, quantity } = draft
      if (reserve.get(quantity, petId, quantity) === null)
        throw new Refused(available.get(petId) ? petId : undefined)
      const now = Date.now()
      const added = addOrder.get(petId, quantity, now, keyId)
      if (added === null) throw new Error('the order got no id')
      return openOrder(draft, added.id, now)
    }).immediate,
  }
}
