import type { SQL } from 'bun'
import type { CatalogChanges, LockedCatalog } from '../../core/catalog/catalog-draft.ts'
import { type Command, petIdsOf } from '../../core/stock/command.ts'
import { isLow } from '../../core/stock/stock-draft.ts'
import { COPIED_TABLES } from '../../core/transfer/copy.ts'
import {
  CATEGORY_FIELDS,
  catalogReferencesOf,
  changesCategories,
  PET_COLUMNS,
  PET_FIELDS,
  petValues,
  toCategory,
  toPet,
} from '../catalog-rows.ts'
import { raiseIdStatements } from '../generated-ids.ts'
import { IS_PET_ROW } from '../log-rows.ts'
import { categoryThresholdStatements } from '../low-stock.ts'
import { categoryStatements } from '../pets.ts'
import { type Columns, type Statement, statement } from '../sql.ts'
import {
  arrayPlaceholders,
  arrayText,
  BARCODE_LOCK_CLASS,
  CATALOG_LOCK,
  columnArrays,
  DIALECT,
  quotedElement,
} from './dialect.ts'

interface ReadCatalog {
  readonly found: LockedCatalog
  /** The latest log row of each pet that the commands name. */
  readonly latestLogRows: ReadonlyMap<bigint, bigint>
}

/** All barcodes share this many advisory locks, because the server has memory for only a few thousand locks. */
const BARCODE_LOCK_COUNT = 64

/**
 * Must be the first statement of a commit. Commits that change single pets run concurrently. A commit that changes a category
 * runs alone, and so does an import: while a commit decides about a pet, the pet's category and threshold must not change.
 * Barcodes are locked in a fixed order, so that two commits never deadlock over them.
 */
export function lockCatalog(sql: SQL, commands: readonly Command[]): Promise<unknown> {
  const lock = changesCategories(commands) ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared'
  const locked = sql.unsafe(`SELECT ${lock}($1)`, [CATALOG_LOCK]).execute()
  const { barcodes } = catalogReferencesOf(commands)
  if (barcodes.length === 0) return locked
  return Promise.all([
    locked,
    sql`
      SELECT pg_advisory_xact_lock(${BARCODE_LOCK_CLASS}::int, number) FROM (
        SELECT DISTINCT hashtext(barcode) & ${BARCODE_LOCK_COUNT - 1}::int AS number
        FROM unnest(${arrayText(barcodes, quotedElement)}::text[]) AS named (barcode) ORDER BY number OFFSET 0
      ) AS numbers`.execute(),
  ])
}

/** Must run after the catalogue and the pets that the commands name are locked. */
export async function readCatalog(sql: SQL, commands: readonly Command[]): Promise<ReadCatalog> {
  const references = catalogReferencesOf(commands)
  const petIds = idArray(petIdsOf(commands))
  const [pets, categories, barcodes, categoriesWithPets, newPetIds, newCategoryIds, latest] =
    await Promise.all([
      sql
        .unsafe<{ id: bigint }[]>(
          `SELECT ${PET_FIELDS} FROM stock JOIN pets ON pets.id = pet_id WHERE pet_id = ANY ($1::bigint[])`,
          [petIds],
        )
        .execute(),
      sql
        .unsafe<{ id: bigint }[]>(
          `SELECT ${CATEGORY_FIELDS} FROM categories WHERE id = ANY ($1::bigint[])
          OR id IN (SELECT category_id FROM pets WHERE id = ANY ($2::bigint[]))`,
          [idArray(references.categories), petIds],
        )
        .execute(),
      sql<{ id: bigint; barcode: string }[]>`
      SELECT id, barcode FROM pets WHERE barcode = ANY (${arrayText(references.barcodes, quotedElement)}::text[])`.execute(),
      sql<{ id: bigint }[]>`
      SELECT id FROM unnest(${idArray(references.removedCategories)}::bigint[]) AS removed (id)
      WHERE EXISTS (SELECT FROM pets WHERE category_id = removed.id)`.execute(),
      newIds(sql, 'pet_ids', references.neededPetIds),
      newIds(sql, 'category_ids', references.neededCategoryIds),
      sql
        .unsafe<{ pet_id: bigint; id: bigint }[]>(
          `SELECT pet_id, max(id) AS id FROM log WHERE pet_id = ANY ($1::bigint[]) AND ${IS_PET_ROW} GROUP BY pet_id`,
          [petIds],
        )
        .execute(),
    ])
  return {
    found: {
      pets: new Map(pets.map((row) => [row.id, toPet(row)])),
      categories: new Map(categories.map((row) => [row.id, toCategory(row)])),
      barcodes: new Map(barcodes.map(({ id, barcode }) => [barcode, id])),
      categoriesWithPets: new Set(categoriesWithPets.map(({ id }) => id)),
      newPetIds,
      newCategoryIds,
    },
    latestLogRows: new Map(latest.map(({ pet_id, id }) => [pet_id, id])),
  }
}

/**
 * Leaves out pets that another commit created after this commit had locked its pets. The decision then treats such a pet as
 * missing. If it creates the pet, the commit fails because the pet exists, and the next attempt of the commit locks it.
 */
export function onlyLockedPets(found: LockedCatalog, isLocked: (petId: bigint) => boolean): LockedCatalog {
  return { ...found, pets: new Map([...found.pets].filter(([petId]) => isLocked(petId))) }
}

async function newIds(sql: SQL, sequence: string, count: number): Promise<bigint[]> {
  const rows = await sql<{ id: bigint }[]>`
    SELECT id FROM unnest(own_ids(${sequence}::regclass, ${count}::bigint)) AS new (id)`.execute()
  return rows.map(({ id }) => id)
}

/** Statements that write the changes. `before` holds the pets that existed before the commit. */
export function catalogStatements(
  { pets, categories, newThresholds }: CatalogChanges,
  before: LockedCatalog['pets'],
): Statement[] {
  const existing = [...pets.keys()].filter((id) => before.has(id))
  // Sorted by id, so that two commits that create the same pets do not deadlock.
  const written = [...pets.values()]
    .filter((changed) => changed !== undefined)
    .sort((one, other) => (one.pet.id < other.pet.id ? -1 : 1))
  const added = written.filter(({ pet }) => !before.has(pet.id))
  const changed = written.filter(({ pet }) => before.has(pet.id))
  const removed = existing.filter((id) => pets.get(id) === undefined)
  const addedIds = added.map(({ pet }) => pet.id)
  const writes: Statement[] = []
  // Barcodes are unique, so all old barcodes are cleared before a new barcode is written.
  if (existing.length > 0) writes.push(statement(CLEAR_BARCODES, idArray(existing)))
  if (removed.length > 0) writes.push(statement(REMOVE_PETS, idArray(removed)))
  if (added.length > 0) writes.push(...petStatements(added, ADD_PETS, ADD_ENTRIES))
  if (changed.length > 0) writes.push(...petStatements(changed, CHANGE_PETS, CHANGE_ENTRIES))
  writes.push(...categoryStatements(DIALECT, categories), ...raiseIdStatements(DIALECT, 'pets', addedIds))
  for (const { by, ...category } of newThresholds) {
    writes.push(
      statement(LOCK_PETS_OF_CATEGORY, category.id),
      ...categoryThresholdStatements(DIALECT, category, by),
    )
  }
  return writes
}

const CLEAR_BARCODES = 'UPDATE pets SET barcode = NULL WHERE id = ANY ($1::bigint[]) AND barcode IS NOT NULL'
const REMOVE_PETS = 'DELETE FROM pets WHERE id = ANY ($1::bigint[])'
const LOCK_PETS_OF_CATEGORY = `
  SELECT 1 FROM stock WHERE pet_id IN (SELECT id FROM pets WHERE category_id = $1 AND low_stock_at IS NULL)
  ORDER BY pet_id FOR NO KEY UPDATE`

/** A pet and its stock entry after a change. */
type PetWithEntry = NonNullable<ReturnType<CatalogChanges['pets']['get']>>

const { last_change: _, ...ENTRY_COLUMNS } = COPIED_TABLES.stock
const [ADD_PETS, CHANGE_PETS] = writeStatements('pets', 'id', PET_COLUMNS)
const [ADD_ENTRIES, CHANGE_ENTRIES] = writeStatements('stock', 'pet_id', ENTRY_COLUMNS)

function writeStatements(table: string, key: string, columns: Columns): [insert: string, update: string] {
  const names = Object.keys(columns)
  const rows = `unnest(${arrayPlaceholders(columns)})`
  const changes = names.map((name) => `${name} = now.${name}`)
  return [
    `INSERT INTO ${table} (${names}) SELECT * FROM ${rows}`,
    `UPDATE ${table} SET ${changes} FROM ${rows} AS now (${names}) WHERE ${table}.${key} = now.${key}`,
  ]
}

function petStatements(pets: readonly PetWithEntry[], petsText: string, entriesText: string): Statement[] {
  const petRows = pets.map(({ pet }) => petValues(pet))
  const entryRows = pets.map(({ pet, entry }) => {
    const { quantity, status, reserved, lowStockAt } = entry
    return [pet.id, quantity, status, reserved, lowStockAt, isLow(entry)]
  })
  return [
    statement(petsText, ...columnArrays(PET_COLUMNS, petRows)),
    statement(entriesText, ...columnArrays(ENTRY_COLUMNS, entryRows)),
  ]
}

function idArray(ids: readonly bigint[]): string {
  return arrayText(ids, (id) => id)
}
