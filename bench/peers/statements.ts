/** The statements of every peer that keeps its stock in SQLite; the harness fills the tables. */
export const SCHEMA = `
  CREATE TABLE inventory (
    petId    INTEGER PRIMARY KEY,
    quantity INTEGER NOT NULL,
    status   TEXT NOT NULL
  );
  CREATE TABLE history (
    id       INTEGER PRIMARY KEY,
    petId    INTEGER NOT NULL,
    quantity INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    keyId    TEXT NOT NULL
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
export const FIND_KEY = 'SELECT id, perMinute, perDay FROM keys WHERE hash = ?'

export interface InventoryRow {
  petId: number
  quantity: number
  status: string
}
