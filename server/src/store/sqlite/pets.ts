import type { Pet } from '../../core/catalog/pet.ts'
import type { PetStatus } from '../../core/stock/inventory.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'
import { HISTORY_END } from './log-end.ts'

interface PetRow {
  id: bigint
  name: string
  category_id: bigint
  status: PetStatus
}

type PetVerbs = Pick<Store, 'findPet' | 'listPets' | 'countPets' | 'addPets'>

const LOWEST_ID = -(2n ** 63n)
const HIGHEST_ID = 2n ** 63n - 1n

export function petVerbs(connection: Connection): PetVerbs {
  const { database } = connection
  // A status is never late.
  const PETS = 'SELECT id, name, category_id, status FROM settled_stock JOIN pets ON pets.id = pet_id'
  const one = database.query<PetRow, [bigint]>(`${PETS} WHERE pet_id = ?`)
  const page = database.query<PetRow, [bigint, number]>(`${PETS} WHERE pet_id >= ? ORDER BY pet_id LIMIT ?`)
  const pageOfStatus = database.query<PetRow, [PetStatus, bigint, number]>(
    `${PETS} WHERE status = ? AND pet_id >= ? ORDER BY pet_id LIMIT ?`,
  )
  const count = database.query<{ pets: bigint }, []>('SELECT count(*) AS pets FROM pets')
  const addPet = database.query<unknown, [bigint, string, bigint]>(
    'INSERT INTO pets (id, name, category_id) VALUES (?, ?, ?)',
  )
  const addStock = database.query<unknown, [bigint, number, PetStatus]>(
    `INSERT INTO settled_stock (pet_id, quantity, status, last_change)
    VALUES (?1, ?2, ?3, (SELECT last_change FROM removed_stock WHERE pet_id = ?1))`,
  )
  const recordEntry = database.query<unknown, [bigint, number, PetStatus]>(`
    INSERT INTO stock_changes (after_history, kind, pet_id, quantity, status)
    VALUES (${HISTORY_END}, 'entry', ?, ?, ?)
  `)

  return {
    findPet: (petId) =>
      connection.read(() => {
        const row = one.get(petId)
        return row === null ? undefined : toPet(row)
      }),

    listPets: ({ status, after }, limit) =>
      connection.read(() => {
        if (after === HIGHEST_ID) return []
        const from = after === undefined ? LOWEST_ID : after + 1n
        const rows = status === undefined ? page.all(from, limit) : pageOfStatus.all(status, from, limit)
        return rows.map(toPet)
      }),

    countPets: () => connection.read(() => Number(count.get()?.pets ?? 0)),

    addPets: (pets) =>
      connection.write(() => {
        for (const pet of pets) {
          addPet.run(pet.id, pet.name, pet.categoryId)
          addStock.run(pet.id, pet.quantity, pet.status)
          recordEntry.run(pet.id, pet.quantity, pet.status)
        }
      }),
  }
}

function toPet(row: PetRow): Pet {
  return { id: row.id, name: row.name, categoryId: row.category_id, status: row.status }
}
