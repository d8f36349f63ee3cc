import type { Pet, StockedPet } from '../../core/catalog/pet.ts'
import type { PetStatus } from '../../core/stock/inventory.ts'
import type { Store } from '../store.ts'
import { columnOf } from './columns.ts'
import type { Connection, Session } from './connection.ts'
import { IMPORT_LOCK } from './staged-import.ts'

interface PetRow {
  id: bigint
  name: string
  category_id: bigint
  status: PetStatus
}

type PetVerbs = Pick<Store, 'findPet' | 'listPets' | 'countPets' | 'addPets' | 'removePet'>

const LOWEST_ID = -(2n ** 63n)
const HIGHEST_ID = 2n ** 63n - 1n

/** A status is never late: only quantities are settled after the history. */
export function petVerbs(connection: Connection): PetVerbs {
  return {
    findPet: async (petId) => {
      const [row] = await connection.run(
        (sql) => sql<PetRow[]>`
          SELECT id, name, category_id, status FROM pets JOIN settled_stock ON pet_id = pets.id WHERE id = ${petId}`,
      )
      return row === undefined ? undefined : toPet(row)
    },

    listPets: async ({ status, after }, limit) => {
      if (after === HIGHEST_ID) return []
      const from = after === undefined ? LOWEST_ID : after + 1n
      const rows = await connection.run((sql) =>
        status === undefined
          ? sql<PetRow[]>`
            SELECT id, name, category_id, status FROM settled_stock JOIN pets ON pets.id = pet_id
            WHERE pet_id >= ${from} ORDER BY pet_id LIMIT ${limit}::bigint`
          : sql<PetRow[]>`
            SELECT id, name, category_id, status FROM settled_stock JOIN pets ON pets.id = pet_id
            WHERE status = ${status} AND pet_id >= ${from} ORDER BY pet_id LIMIT ${limit}::bigint`,
      )
      return rows.map(toPet)
    },

    countPets: async () => {
      const [row] = await connection.run((sql) => sql<{ pets: bigint }[]>`SELECT count(*) AS pets FROM pets`)
      return Number(row?.pets ?? 0)
    },

    addPets: (pets) =>
      connection.transaction(async (session) => {
        // Not beside an import: each could wait for pets that the other adds.
        await session`SELECT pg_advisory_xact_lock(${IMPORT_LOCK})`
        await insertPets(session, pets)
        await session`
          INSERT INTO stock_changes (id, kind, pet_id, quantity, status)
          SELECT taken.position + number, 'entry', pet_id, quantity, status
          FROM take_log_ids(${pets.length}) AS taken (position), unnest(
            ${columnOf(session, pets, 'BIGINT', ({ id }) => id)},
            ${columnOf(session, pets, 'BIGINT', ({ quantity }) => quantity)},
            ${columnOf(session, pets, 'TEXT', ({ status }) => status)}
          ) WITH ORDINALITY AS added (pet_id, quantity, status, number)`
      }),

    removePet: (petId) =>
      connection.transaction(async (session) => {
        // The end of the log first: what is written behind it comes after all that is known of the pet.
        const [taken] = await session<{ position: bigint }[]>`SELECT take_log_ids(1) AS position`
        const { count } = await session`DELETE FROM pets WHERE id = ${petId}`
        if (count > 0) {
          await session`
            INSERT INTO stock_changes (id, kind, pet_id) VALUES (${(taken?.position ?? 0n) + 1n}, 'removed', ${petId})`
        }
        return count > 0
      }),
  }
}

/** In the order of their ids, so that two who add the same pets do not deadlock. */
async function insertPets(session: Session, pets: readonly StockedPet[]): Promise<void> {
  const ids = columnOf(session, pets, 'BIGINT', ({ id }) => id)
  const names = columnOf(session, pets, 'TEXT', ({ name }) => name)
  const categories = columnOf(session, pets, 'BIGINT', ({ categoryId }) => categoryId)
  const quantities = columnOf(session, pets, 'BIGINT', ({ quantity }) => quantity)
  const statuses = columnOf(session, pets, 'TEXT', ({ status }) => status)
  await session`
    INSERT INTO pets (id, name, category_id) SELECT * FROM unnest(${ids}, ${names}, ${categories}) ORDER BY 1`
  await session`
    INSERT INTO settled_stock (pet_id, quantity, status)
    SELECT * FROM unnest(${ids}, ${quantities}, ${statuses}) ORDER BY 1`
}

function toPet(row: PetRow): Pet {
  return { id: row.id, name: row.name, categoryId: row.category_id, status: row.status }
}
