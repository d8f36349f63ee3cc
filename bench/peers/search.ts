import type { Database } from 'bun:sqlite'

/** The same indexes that ours has. */
export const SEARCH_SCHEMA = `
  CREATE TABLE pets (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    categoryId INTEGER NOT NULL
  );
  CREATE INDEX petsByCategory ON pets (categoryId, id);
  CREATE VIRTUAL TABLE petNames USING fts5 (
    name, content = 'pets', content_rowid = 'id', tokenize = 'unicode61', detail = none, columnsize = 0);
  ALTER TABLE inventory ADD COLUMN lowStockAt INTEGER;
  CREATE INDEX lowInventory ON inventory (petId) WHERE lowStockAt >= quantity - reserved;
`

const COLUMNS = `petId, pets.name, categoryId, status, quantity, reserved, lowStockAt, quantity - reserved AS available`
const BY_WORD = `
  SELECT ${COLUMNS} FROM petNames JOIN pets ON pets.id = petNames.rowid JOIN inventory ON petId = petNames.rowid
  WHERE petNames MATCH ? AND petNames.rowid > ? ORDER BY petNames.rowid LIMIT ?`
const BY_CATEGORY = `
  SELECT ${COLUMNS} FROM pets JOIN inventory ON petId = pets.id
  WHERE categoryId = ? AND pets.id > ? ORDER BY pets.id LIMIT ?`
const LOW = `
  SELECT ${COLUMNS} FROM inventory INDEXED BY lowInventory JOIN pets ON pets.id = petId
  WHERE lowStockAt >= quantity - reserved AND petId > ? ORDER BY petId LIMIT ?`

const LIMIT = 100
const WORD = /[\p{L}\p{N}]+/gu

export interface FoundRow {
  readonly petId: number
  readonly name: string
}

export interface PeerSearch {
  readonly q?: string | undefined
  readonly categoryId?: string | undefined
  readonly low?: string | undefined
  readonly cursor?: string | undefined
}

/** Returns a page and the cursor of the next one. `query` caches the prepared statement. */
export function createSearch(database: Database) {
  return ({ q, categoryId, cursor = '0' }: PeerSearch): { rows: FoundRow[]; next?: number } => {
    const [after, limit] = [Number(cursor), LIMIT + 1]
    const found =
      q !== undefined
        ? database.query<FoundRow, [string, number, number]>(BY_WORD).all(prefixes(q), after, limit)
        : categoryId !== undefined
          ? database
              .query<FoundRow, [number, number, number]>(BY_CATEGORY)
              .all(Number(categoryId), after, limit)
          : database.query<FoundRow, [number, number]>(LOW).all(after, limit)
    const rows = found.slice(0, LIMIT)
    const last = rows.at(-1)
    return { rows, ...(found.length > LIMIT && last !== undefined ? { next: last.petId } : {}) }
  }
}

function prefixes(text: string): string {
  return Array.from(text.matchAll(WORD), ([word]) => `"${word}"*`).join(' AND ')
}
