import type { CatalogStore } from '../../core/catalog/catalog-store.ts'
import { STORE_KEY_ID } from '../pets.ts'
import { columnOf } from './columns.ts'
import type { Connection } from './connection.ts'
import { IMPORT_LOCK } from './import.ts'

export function petWriteVerbs(connection: Connection): Pick<CatalogStore, 'addPets' | 'removePet'> {
  return {
    addPets: (pets) =>
      connection.transaction(async (session) => {
        // Not beside an import: each could wait for pets that the other adds.
        await session`SELECT pg_advisory_xact_lock(${IMPORT_LOCK})`
        const ids = columnOf(session, pets, 'BIGINT', ({ id }) => id)
        // In the order of their ids, so that two who add the same pets do not deadlock.
        await session`
          INSERT INTO pets (id, name, category_id) SELECT * FROM unnest(${ids},
            ${columnOf(session, pets, 'TEXT', ({ name }) => name)},
            ${columnOf(session, pets, 'BIGINT', ({ categoryId }) => categoryId)}) ORDER BY 1`
        // A pet that was removed and comes back goes on with its history.
        await session`
          WITH added AS MATERIALIZED (
            SELECT nextval('log_ids') AS id, pet_id, quantity, status FROM unnest(${ids},
              ${columnOf(session, pets, 'BIGINT', ({ quantity }) => quantity)},
              ${columnOf(session, pets, 'TEXT', ({ status }) => status)}) AS given (pet_id, quantity, status)
          ), stocked AS (
            INSERT INTO stock (pet_id, quantity, status, last_change)
            SELECT pet_id, quantity, status, id FROM added ORDER BY pet_id
          )
          INSERT INTO log (id, kind, pet_id, after, status, at, key_id, previous)
          SELECT id, 'entry', pet_id, quantity, status, ${Date.now()}::bigint, ${STORE_KEY_ID},
            (SELECT max(id) FROM log WHERE log.pet_id = added.pet_id AND kind <> 'change')
          FROM added`
      }),

    removePet: (petId) =>
      connection.transaction(async (session) => {
        const { count } = await session`
          INSERT INTO log (id, kind, pet_id, before, status, at, key_id, previous)
          SELECT nextval('log_ids'), 'removed', pet_id, quantity, status, ${Date.now()}::bigint, ${STORE_KEY_ID}, last_change
          FROM (SELECT * FROM stock WHERE pet_id = ${petId} FOR UPDATE) AS gone`
        await session`DELETE FROM pets WHERE id = ${petId}`
        return count > 0
      }),
  }
}
