import { type PeerAdjustment, type PeerLine, Refused } from './checks.ts'
import type { PeerKey } from './gate.ts'

const LIST = 'SELECT petId, quantity, status FROM inventory ORDER BY petId'
const UPDATE = 'UPDATE inventory SET quantity = ? WHERE petId = ? RETURNING petId, quantity, status'
const ADJUST =
  'UPDATE inventory SET quantity = quantity + ? WHERE petId = ? RETURNING petId, quantity, status'
const RECORD = 'INSERT INTO history (petId, quantity, at, keyId, reason) VALUES (?, ?, ?, ?, ?)'
/** Checks and reserves in one statement: it returns no row if too little is available. */
const RESERVE =
  'UPDATE inventory SET reserved = reserved + ? WHERE petId = ? AND quantity - reserved >= ? RETURNING petId'
const ADD_ORDER = "INSERT INTO orders (state, createdAt, keyId) VALUES ('open', ?, ?) RETURNING id"
const ADD_LINE = 'INSERT INTO order_lines (orderId, petId, quantity) VALUES (?, ?, ?)'
const HISTORY =
  'SELECT quantity AS after, at, keyId, reason FROM history WHERE petId = ? ORDER BY id DESC LIMIT 100'
const FIND_PET = 'SELECT petId FROM inventory WHERE petId = ?'
const FIND_KEY = 'SELECT id, perMinute, perDay FROM keys WHERE hash = ?'

export interface InventoryRow {
  petId: number
  quantity: number
  status: string
}

export interface HistoryRow {
  after: number
  at: number
  keyId: string
  reason: string | null
}

export type Value = string | number | null

export interface Statement<Row> {
  all(...values: Value[]): Row[]
  get(...values: Value[]): Row | null | undefined
  run(...values: Value[]): unknown
}

/** The methods that bun:sqlite and better-sqlite3 have in common. */
export interface SqliteDatabase {
  prepare<Row>(sql: string): Statement<Row>
  transaction<Args extends unknown[], Result>(
    work: (...args: Args) => Result,
  ): { (...args: Args): Result; immediate(...args: Args): Result }
}

/** As the documentation of both drivers shows: prepared statements and transaction functions. */
export function createInventory(database: SqliteDatabase) {
  const list = database.prepare<InventoryRow>(LIST)
  const update = database.prepare<InventoryRow>(UPDATE)
  const adjust = database.prepare<InventoryRow>(ADJUST)
  const record = database.prepare(RECORD)
  const reserve = database.prepare<{ petId: number }>(RESERVE)
  const findPet = database.prepare<{ petId: number }>(FIND_PET)
  const addOrder = database.prepare<{ id: number }>(ADD_ORDER)
  const addLine = database.prepare(ADD_LINE)
  const history = database.prepare<HistoryRow>(HISTORY)
  const findKey = database.prepare<PeerKey>(FIND_KEY)

  return {
    list: () => list.all(),
    history: (petId: number) => history.all(petId),
    findKey: (hash: string) => findKey.get(hash) ?? undefined,
    setQuantity: database.transaction((petId: number, quantity: number, keyId: string) => {
      const row = update.get(quantity, petId) ?? undefined
      if (row === undefined) throw refusal(undefined)
      record.run(petId, quantity, Date.now(), keyId, null)
      return row
    }),
    adjust: database.transaction(({ reason, changes }: PeerAdjustment, keyId: string) => {
      const now = Date.now()
      return changes.map(({ petId, delta }) => {
        const row = adjust.get(delta, petId) ?? undefined
        if (row === undefined || row.quantity < 0) throw refusal(row?.petId)
        record.run(petId, row.quantity, now, keyId, reason)
        return row
      })
    }),
    // IMMEDIATE takes the write lock at the start.
    order: database.transaction((lines: readonly PeerLine[], keyId: string) => {
      const now = Date.now()
      const added = addOrder.get(now, keyId) ?? undefined
      if (added === undefined) throw new Error('the order got no id')
      for (const { petId, quantity } of lines) {
        const isReserved = (reserve.get(quantity, petId, quantity) ?? undefined) !== undefined
        if (!isReserved) throw refusal(findPet.get(petId)?.petId)
        addLine.run(added.id, petId, quantity)
      }
      return openOrder(lines, added.id, now, keyId)
    }).immediate,
  }
}

export function openOrder(wanted: readonly PeerLine[], id: number, time: number, createdBy: string) {
  const createdAt = new Date(time).toISOString()
  const lines = wanted.map(({ petId, quantity }) => ({ petId, quantity, returned: 0 }))
  return { id, lines, state: 'open', complete: false, createdAt, createdBy }
}

/** Without a pet: the pet does not exist. */
export function refusal(petId: number | undefined): Refused {
  return petId === undefined
    ? new Refused(404, 'not_found', 'pet not found')
    : new Refused(409, 'insufficient_stock', `not enough of pet ${petId}`)
}
