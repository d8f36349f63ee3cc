import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import type { Pet } from '../core/catalog/pet.ts'
import type { PetStatus } from '../core/stock/inventory.ts'
import type { SqlDatabase } from './sql.ts'

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

/** Whom the log names for what no API key did. */
export const STORE_KEY_ID = 'petstore'

export function petVerbs(database: SqlDatabase): Pick<CatalogStore, 'findPet' | 'listPets' | 'countPets'> {
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
  }
}

function toPet(row: PetRow): Pet {
  return { id: row.id, name: row.name, categoryId: row.category_id, status: row.status }
}
