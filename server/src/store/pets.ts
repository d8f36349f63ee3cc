import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import type { Pet } from '../core/catalog/pet.ts'
import type { PetStatus } from '../core/stock/inventory.ts'
import { STORE_KEY_ID } from '../core/stock/stock-request.ts'
import { IS_OF_ENTRY } from './log-rows.ts'
import { insertRows, type SqlDatabase, type Statement, statement } from './sql.ts'

interface PetRow {
  readonly id: bigint
  readonly name: string
  readonly category_id: bigint
  readonly status: PetStatus
}

const LOWEST_ID = -(2n ** 63n)
const HIGHEST_ID = 2n ** 63n - 1n
const PETS = 'SELECT id, name, category_id, status FROM stock JOIN pets ON pets.id = pet_id'
const PAGE = 'ORDER BY pet_id LIMIT CAST($2 AS BIGINT)'

/** A pet that was removed and comes back goes on with its history. */
const LATEST = `(SELECT max(id) FROM log WHERE log.pet_id = stock.pet_id AND ${IS_OF_ENTRY})`
const PETS_A_STATEMENT = 20

export function petVerbs(database: SqlDatabase): CatalogStore {
  const { nextLogId, forUpdate, beforeNewPets } = database.dialect
  return {
    findPet: async (petId) => {
      const [row] = await database.rows<PetRow>(`${PETS} WHERE pet_id = $1`, petId)
      return row === undefined ? undefined : toPet(row)
    },

    listPets: async ({ status, after }, limit) => {
      if (after === HIGHEST_ID) return []
      const from = after === undefined ? LOWEST_ID : after + 1n
      const rows = await (status === undefined
        ? database.rows<PetRow>(`${PETS} WHERE pet_id >= $1 ${PAGE}`, from, limit)
        : database.rows<PetRow>(`${PETS} WHERE pet_id >= $1 AND status = $3 ${PAGE}`, from, limit, status))
      return rows.map(toPet)
    },

    countPets: async () => {
      const [row] = await database.rows<{ pets: bigint }>('SELECT count(*) AS pets FROM pets')
      return Number(row?.pets ?? 0)
    },

    addPets: async (pets) => {
      // In the order of their ids, so that two who add the same pets do not deadlock.
      const sorted = pets.toSorted((one, other) => (one.id < other.id ? -1 : 1))
      const entries: Statement[] = []
      for (let from = 0; from < sorted.length; from += PETS_A_STATEMENT) {
        const ids = sorted.slice(from, from + PETS_A_STATEMENT).map(({ id }) => id)
        const added = `pet_id IN (${ids.map((_, index) => `$${index + 1}`).join()})`
        entries.push(
          statement(
            `INSERT INTO log (id, kind, pet_id, after, status, at, key_id, previous)
            SELECT ${nextLogId}, 'entry', pet_id, quantity, status, CAST($${ids.length + 1} AS BIGINT), '${STORE_KEY_ID}', ${LATEST}
            FROM stock WHERE ${added}`,
            ...[...ids, Date.now()],
          ),
          statement(`UPDATE stock SET last_change = ${LATEST} WHERE ${added}`, ...ids),
        )
      }
      await database.commit([
        ...beforeNewPets,
        ...insertRows(
          'pets (id, name, category_id)',
          sorted.map(({ id, name, categoryId }) => [id, name, categoryId]),
        ),
        ...insertRows(
          'stock (pet_id, quantity, status)',
          sorted.map(({ id, quantity, status }) => [id, quantity, status]),
        ),
        ...entries,
      ])
    },

    removePet: async (petId) => {
      const [removed] = await database.commit([
        statement(
          `INSERT INTO log (id, kind, pet_id, before, status, at, key_id, previous)
          SELECT ${nextLogId}, 'removed', pet_id, quantity, status, CAST($2 AS BIGINT), '${STORE_KEY_ID}', last_change
          FROM (SELECT * FROM stock WHERE pet_id = $1 AND reserved = 0 ${forUpdate}) AS gone`,
          petId,
          Date.now(),
        ),
        // The stock goes with its pet.
        statement(
          'DELETE FROM pets WHERE id = $1 AND EXISTS (SELECT 1 FROM stock WHERE pet_id = $1 AND reserved = 0)',
          petId,
        ),
      ])
      if (removed !== 0) return 'removed'
      const [kept] = await database.rows('SELECT 1 FROM stock WHERE pet_id = $1', petId)
      return kept === undefined ? 'unknown_pet' : 'in_use'
    },
  }
}

function toPet(row: PetRow): Pet {
  return { id: row.id, name: row.name, categoryId: row.category_id, status: row.status }
}
