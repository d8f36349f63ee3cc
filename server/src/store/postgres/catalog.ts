import type { SQL } from 'bun'
import type { LockedCatalog } from '../../core/catalog/catalog-draft.ts'
import type { Command } from '../../core/stock/command.ts'
import { petIdsOf } from '../../core/stock/command-table.ts'
import {
  CATEGORY_SELECT_LIST,
  catalogReferencesOf,
  changesCategories,
  PET_SELECT_LIST,
  toCategory,
  toPet,
} from '../catalog-rows.ts'
import { arrayText, BARCODE_LOCK_CLASS, CATALOG_LOCK, idArray, quotedElement } from './dialect.ts'

/**
 * All barcodes share this many advisory locks (a power of two), because the server has memory for only a few thousand
 * locks.
 */
const BARCODE_LOCK_COUNT = 64

/**
 * Must be the first statement of a commit that reads the catalogue. Such commits run concurrently if they change only pets. A
 * commit that changes a category excludes all others, and so does an import: while a commit decides about a pet, the pet's
 * category and threshold must not change. Commits that do not read the catalogue need no lock.
 * Barcodes are locked in a fixed order, so that two commits never deadlock over them.
 */
export function lockCatalog(sql: SQL, commands: readonly Command[]): Promise<unknown> {
  const lockFunction = changesCategories(commands) ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared'
  const catalogLock = sql.unsafe(`SELECT ${lockFunction}($1)`, [CATALOG_LOCK]).execute()
  const { barcodes } = catalogReferencesOf(commands)
  if (barcodes.length === 0) return catalogLock
  return Promise.all([
    catalogLock,
    sql`
      SELECT pg_advisory_xact_lock(${BARCODE_LOCK_CLASS}::int, number) FROM (
        SELECT DISTINCT hashtext(barcode) & ${BARCODE_LOCK_COUNT - 1}::int AS number
        FROM unnest(${arrayText(barcodes, quotedElement)}::text[]) AS named (barcode) ORDER BY number OFFSET 0
      ) AS numbers`.execute(),
  ])
}

/** Must run after the commit has locked the catalogue and the pets that the commands name. */
export async function readCatalog(sql: SQL, commands: readonly Command[]): Promise<LockedCatalog> {
  const references = catalogReferencesOf(commands)
  const petIds = idArray(petIdsOf(commands))
  const [pets, categories, barcodes, categoriesWithPets, newPetIds, newCategoryIds] = await Promise.all([
    sql
      .unsafe<{ id: bigint }[]>(
        `SELECT ${PET_SELECT_LIST} FROM stock JOIN pets ON pets.id = pet_id WHERE pet_id = ANY ($1::bigint[])`,
        [petIds],
      )
      .execute(),
    (references.namesCategory
      ? sql.unsafe<{ id: bigint }[]>(`SELECT ${CATEGORY_SELECT_LIST} FROM categories`)
      : sql.unsafe<{ id: bigint }[]>(
          `SELECT ${CATEGORY_SELECT_LIST} FROM categories WHERE id = ANY ($1::bigint[])
            OR id IN (SELECT category_id FROM pets WHERE id = ANY ($2::bigint[]))`,
          [idArray(references.categories), petIds],
        )
    ).execute(),
    sql<{ id: bigint; barcode: string }[]>`
      SELECT id, barcode FROM pets WHERE barcode = ANY (${arrayText(references.barcodes, quotedElement)}::text[])`.execute(),
    sql<{ id: bigint }[]>`
      SELECT id FROM unnest(${idArray(references.removedCategories)}::bigint[]) AS removed (id)
      WHERE EXISTS (SELECT FROM pets WHERE category_id = removed.id)`.execute(),
    takeIds(sql, 'pet_ids', references.neededPetIdCount),
    takeIds(sql, 'category_ids', references.neededCategoryIdCount),
  ])
  return {
    pets: new Map(pets.map((row) => [row.id, toPet(row)])),
    categories: new Map(categories.map((row) => [row.id, toCategory(row)])),
    barcodes: new Map(barcodes.map(({ id, barcode }) => [barcode, id])),
    categoriesWithPets: new Set(categoriesWithPets.map(({ id }) => id)),
    newPetIds,
    newCategoryIds,
  }
}

/**
 * Leaves out pets that another commit created after this commit had locked its pets. The decision then treats such a pet as
 * missing. If the decision creates the pet, the commit fails because the pet exists, and the next attempt locks the pet.
 */
export function onlyLockedPets(catalog: LockedCatalog, isLocked: (petId: bigint) => boolean): LockedCatalog {
  return { ...catalog, pets: new Map([...catalog.pets].filter(([petId]) => isLocked(petId))) }
}

/** Takes new ids from a sequence. After a failover or restore, `own_ids` first skips the ids that lost commits may have used. */
async function takeIds(sql: SQL, sequence: string, count: number): Promise<bigint[]> {
  const rows = await sql<{ id: bigint }[]>`
    SELECT id FROM unnest(own_ids(${sequence}::regclass, ${count}::bigint)) AS new (id)`.execute()
  return rows.map(({ id }) => id)
}
