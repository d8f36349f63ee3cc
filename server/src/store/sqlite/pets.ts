import type { CatalogStore } from '../../core/catalog/catalog-store.ts'
import type { PetStatus } from '../../core/stock/inventory.ts'
import { STORE_KEY_ID } from '../pets.ts'
import type { Connection } from './connection.ts'
import { readLogEnd } from './log.ts'

export function petWriteVerbs(connection: Connection): Pick<CatalogStore, 'addPets' | 'removePet'> {
  const { database } = connection
  const logEnd = readLogEnd(database)
  const addPet = database.query<unknown, [bigint, string, bigint]>(
    'INSERT INTO pets (id, name, category_id) VALUES (?, ?, ?)',
  )
  const addStock = database.query<unknown, [bigint, number, PetStatus, bigint]>(
    'INSERT INTO stock (pet_id, quantity, status, last_change) VALUES (?, ?, ?, ?)',
  )
  // A pet that was removed and comes back goes on with its history.
  const recordEntry = database.query<unknown, [bigint, bigint, number, PetStatus, number, string]>(`
    INSERT INTO log (id, kind, pet_id, after, status, at, key_id, previous)
    VALUES (?1, 'entry', ?2, ?3, ?4, ?5, ?6, (SELECT max(id) FROM log WHERE pet_id = ?2 AND kind <> 'change'))
  `)
  const recordRemoval = database.query<unknown, [bigint, bigint, number, string]>(`
    INSERT INTO log (id, kind, pet_id, before, status, at, key_id, previous)
    SELECT ?1, 'removed', pet_id, quantity, status, ?3, ?4, last_change FROM stock WHERE pet_id = ?2
  `)
  const remove = database.query<unknown, [bigint]>('DELETE FROM pets WHERE id = ?')

  return {
    addPets: (pets) =>
      connection.write(() => {
        let id = logEnd().position
        const at = Date.now()
        for (const pet of pets) {
          id++
          addPet.run(pet.id, pet.name, pet.categoryId)
          recordEntry.run(id, pet.id, pet.quantity, pet.status, at, STORE_KEY_ID)
          addStock.run(pet.id, pet.quantity, pet.status, id)
        }
      }),

    removePet: (petId) =>
      connection.write(() => {
        const isThere = recordRemoval.run(logEnd().position + 1n, petId, Date.now(), STORE_KEY_ID).changes > 0
        // The stock goes with its pet.
        remove.run(petId)
        return isThere
      }),
  }
}
