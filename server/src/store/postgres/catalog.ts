import type { SQL } from 'bun'
import type { CatalogChanges, LockedCatalog, PetWithEntry } from '../../core/catalog/catalog-draft.ts'
import type { Command } from '../../core/stock/command.ts'
import { petIdsOf } from '../../core/stock/command-table.ts'
import {
  CATEGORY_SELECT_LIST,
  catalogReferencesOf,
  changesCategories,
  PET_COLUMNS,
  PET_SELECT_LIST,
  petValues,
  toCategory,
  toPet,
} from '../catalog-rows.ts'
import { advanceIdsStatements } from '../generated-ids.ts'
import { ENTRY_COLUMNS, entryValues } from '../log-rows.ts'
import { categoryStatements } from '../pets.ts'
import { excludedValues, type Statement, statement } from '../sql.ts'
import {
  arrayText,
  BARCODE_LOCK_CLASS,
  CATALOG_LOCK,
  columnArrays,
  DIALECT,
  idArray,
  insertSql,
  quotedElement,
  updateSql,
} from './dialect.ts'

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

/** Statements that write the changes. `before` holds the pets that existed before the commit. */
export function catalogStatements(changes: CatalogChanges, before: LockedCatalog['pets']): Statement[] {
  const { pets, thresholds } = changes
  const existingIds = [...pets.keys()].filter((id) => before.has(id))
  // Sorted by id, so that two commits that create the same pets do not deadlock.
  const writtenPets = [...pets.values()]
    .filter((petWithEntry) => petWithEntry !== undefined)
    .sort((one, other) => (one.pet.id < other.pet.id ? -1 : 1))
  const addedPets = writtenPets.filter(({ pet }) => !before.has(pet.id))
  const changedPets = writtenPets.filter(({ pet }) => before.has(pet.id))
  const removedIds = existingIds.filter((id) => pets.get(id) === undefined)
  const addedIds = addedPets.map(({ pet }) => pet.id)
  const writes: Statement[] = []
  // Barcodes are unique, so all old barcodes are cleared before a new barcode is written.
  if (existingIds.length > 0) writes.push(statement(CLEAR_BARCODES, idArray(existingIds)))
  if (removedIds.length > 0) writes.push(statement(REMOVE_PETS, idArray(removedIds)))
  if (addedPets.length > 0) writes.push(...petStatements(addedPets, ADD_PETS, ADD_ENTRIES))
  if (changedPets.length > 0) writes.push(...petStatements(changedPets, CHANGE_PETS, CHANGE_ENTRIES))
  writes.push(...categoryStatements(DIALECT, changes), ...advanceIdsStatements(DIALECT, 'pets', addedIds))
  if (thresholds.size > 0)
    writes.push(statement(SET_THRESHOLDS, ...columnArrays(THRESHOLD_COLUMNS, [...thresholds])))
  return writes
}

const CLEAR_BARCODES = 'UPDATE pets SET barcode = NULL WHERE id = ANY ($1::bigint[]) AND barcode IS NOT NULL'
const REMOVE_PETS = 'DELETE FROM pets WHERE id = ANY ($1::bigint[])'
const THRESHOLD_COLUMNS = { pet_id: 'integer', low_at: 'integer' } as const
const SET_THRESHOLDS = updateSql('stock', THRESHOLD_COLUMNS, 'pet_id')

/**
 * Replaces a pet that has lost its stock entry. If another commit has just created the pet, adding the entry fails, and the commit
 * is tried again.
 */
const ADD_PETS = `
  ${insertSql('pets', PET_COLUMNS)}
  ON CONFLICT (id) DO UPDATE SET ${excludedValues(Object.keys(PET_COLUMNS))}`
const CHANGE_PETS = updateSql('pets', PET_COLUMNS)
const ADD_ENTRIES = insertSql('stock', ENTRY_COLUMNS)
const CHANGE_ENTRIES = updateSql('stock', ENTRY_COLUMNS, 'pet_id')

function petStatements(pets: readonly PetWithEntry[], petsText: string, entriesText: string): Statement[] {
  const petRows = pets.map(({ pet }) => petValues(pet))
  return [
    statement(petsText, ...columnArrays(PET_COLUMNS, petRows)),
    statement(entriesText, ...columnArrays(ENTRY_COLUMNS, pets.map(entryValues))),
  ]
}
