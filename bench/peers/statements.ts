/** The statements of every peer that keeps its stock in SQLite; the harness fills the tables. */
export const SCHEMA = `
  CREATE TABLE inventory (
    petId    INTEGER PRIMARY KEY,
    quantity INTEGER NOT NULL,
    status   TEXT NOT NULL,
    reserved INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE orders (
    id        INTEGER PRIMARY KEY,
    petId     INTEGER NOT NULL,
    quantity  INTEGER NOT NULL,
    state     TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    keyId     TEXT NOT NULL
  );
  CREATE TABLE history (
    id       INTEGER PRIMARY KEY,
    petId    INTEGER NOT NULL,
    quantity INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    keyId    TEXT NOT NULL,
    reason   TEXT
  );
  CREATE TABLE keys (
    hash      TEXT PRIMARY KEY,
    id        TEXT NOT NULL,
    perMinute INTEGER NOT NULL,
    perDay    INTEGER NOT NULL
  ) WITHOUT ROWID;
`
export const LIST = 'SELECT petId, quantity, status FROM inventory ORDER BY petId'
export const UPDATE = 'UPDATE inventory SET quantity = ? WHERE petId = ? RETURNING petId, quantity, status'
export const RECORD = 'INSERT INTO history (petId, quantity, at, keyId) VALUES (?, ?, ?, ?)'
export const ADJUST =
  'UPDATE inventory SET quantity = quantity + ? WHERE petId = ? RETURNING petId, quantity, status'
export const RECORD_ADJUSTED =
  'INSERT INTO history (petId, quantity, at, keyId, reason) VALUES (?, ?, ?, ?, ?)'
/** Checks and reserves at once: it gives nothing where too little is available. */
export const RESERVE =
  'UPDATE inventory SET reserved = reserved + ? WHERE petId = ? AND quantity - reserved >= ? RETURNING petId'
export const ADD_ORDER =
  "INSERT INTO orders (petId, quantity, state, createdAt, keyId) VALUES (?, ?, 'open', ?, ?) RETURNING id"
export const FIND_AVAILABLE = 'SELECT quantity - reserved AS available FROM inventory WHERE petId = ?'
export const FIND_KEY = 'SELECT id, perMinute, perDay FROM keys WHERE hash = ?'

export interface InventoryRow {
  petId: number
  quantity: number
  status: string
}

/** Of several pets in one transaction, all or none. */
export interface PeerAdjustment {
  reason: string
  changes: { petId: number; delta: number }[]
}

export interface PeerDraft {
  petId: number
  quantity: number
}

export interface PeerOrder extends PeerDraft {
  id: number
  complete: boolean
  state: string
  createdAt: string
}

export function openOrder({ petId, quantity }: PeerDraft, id: number, createdAt: number): PeerOrder {
  return { id, petId, quantity, complete: false, state: 'open', createdAt: new Date(createdAt).toISOString() }
}

export const REASONS = ['received', 'returned', 'sold', 'damaged', 'lost', 'counted', 'corrected'] as const
export const MAX_CHANGES = 1_000

/** Thrown inside the transaction, so that nothing of it stays. Without a pet: there is no such one. */
export class Refused extends Error {
  readonly body: { readonly code: string; readonly message: string; readonly status: 404 | 409 }

  constructor(petId: number | undefined) {
    super('it cannot be made')
    this.body =
      petId === undefined
        ? { code: 'not_found', message: 'there is no such pet', status: 404 }
        : { code: 'insufficient_stock', message: `there is too little of pet ${petId}`, status: 409 }
  }
}
