import type { PetStatus } from '../../core/inventory.ts'
import type { Store } from '../../core/store.ts'
import type { Connection } from './connection.ts'

interface PetRow {
  id: bigint
  name: string
  category_id: bigint
  status: PetStatus
}

type PetVerbs = Pick<Store, 'findPet' | 'countPets' | 'addPets'>

export function petVerbs(connection: Connection): PetVerbs {
  const { database } = connection
  const one = database.query<PetRow, [bigint]>(
    'SELECT id, name, category_id, status FROM pets JOIN stock ON stock.pet_id = pets.id WHERE id = ?',
  )
  const count = database.query<{ pets: bigint }, []>('SELECT count(*) AS pets FROM pets')
  const addPet = database.query<unknown, [bigint, string, bigint]>(
    'INSERT INTO pets (id, name, category_id) VALUES (?, ?, ?)',
  )
  const addStock = database.query<unknown, [bigint, number, PetStatus]>(
    'INSERT INTO stock (pet_id, quantity, status) VALUES (?, ?, ?)',
  )

  return {
    findPet: (petId) =>
      connection.read(() => {
        const row = one.get(petId)
        if (row === null) return undefined
        return { id: row.id, name: row.name, categoryId: row.category_id, status: row.status }
      }),

    countPets: () => connection.read(() => Number(count.get()?.pets ?? 0)),

    addPets: (pets) =>
      connection.write(() => {
        for (const pet of pets) {
          addPet.run(pet.id, pet.name, pet.categoryId)
          addStock.run(pet.id, pet.quantity, pet.status)
        }
      }),
  }
}
