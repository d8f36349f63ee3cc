import type { SQL } from 'bun'
import type { CatalogChanges, LockedCatalog } from '../../core/catalog/catalog-draft.ts'
import { type Command, petIdsOf } from '../../core/stock/command.ts'
import { isLow } from '../../core/stock/inventory.ts'
import { catalogReferencesOf, changesCategories } from '../catalog-references.ts'
import {
  CATEGORY_COLUMNS,
  CATEGORY_FIELDS,
  categoryValues,
  PET_COLUMNS,
  PET_FIELDS,
  petValues,
  toCategory,
  toPet,
} from '../catalog-rows.ts'
import { IS_OF_PET } from '../log-rows.ts'
import { newThreshold } from '../low-stock.ts'
import { highestOwn } from '../own-ids.ts'
import type { OwnIds, SqlValue } from '../sql.ts'
import { BARCODE_LOCK_CLASS, CATALOG_LOCK, DIALECT } from './dialect.ts'
import { arrayOf, quoted, toParameter } from './parameters.ts'

/** What a commit about the catalogue has read, and the latest rows in the log of the pets that are named. */
export interface FoundCatalog {
  readonly found: LockedCatalog
  readonly latestRows: ReadonlyMap<bigint, bigint>
}

/** So many locks stand for all barcodes, since the server has room for some thousand locks in all. */
const BARCODE_LOCKS = 64

/**
 * Comes first in a commit. Those who change some pets go on side by side; who changes a category, or brings in many, is
 * alone: so a pet's category and its threshold are what they were when it was decided. Barcodes are locked in an order of
 * theirs: two commits that bring the same ones do not wait crosswise.
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
        SELECT DISTINCT hashtext(barcode) & ${BARCODE_LOCKS - 1}::int AS number
        FROM unnest(${arrayOf(barcodes, quoted)}::text[]) AS named (barcode) ORDER BY number OFFSET 0
      ) AS numbers`.execute(),
  ])
}

/** It begins once the catalogue and the pets that are named are locked. */
export async function readCatalog(sql: SQL, commands: readonly Command[]): Promise<FoundCatalog> {
  const named = catalogReferencesOf(commands)
  const petIds = ids(petIdsOf(commands))
  const [pets, categories, barcodes, used, newPetIds, newCategoryIds, latest] = await Promise.all([
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
        [ids(named.categories), petIds],
      )
      .execute(),
    sql<{ id: bigint; barcode: string }[]>`
      SELECT id, barcode FROM pets WHERE barcode = ANY (${arrayOf(named.barcodes, quoted)}::text[])`.execute(),
    sql<{ id: bigint }[]>`
      SELECT id FROM unnest(${ids(named.removedCategories)}::bigint[]) AS removed (id)
      WHERE EXISTS (SELECT FROM pets WHERE category_id = removed.id)`.execute(),
    newIds(sql, 'pet_ids', named.newPets),
    newIds(sql, 'category_ids', named.newCategories),
    sql
      .unsafe<{ pet_id: bigint; id: bigint }[]>(
        `SELECT pet_id, max(id) AS id FROM log WHERE pet_id = ANY ($1::bigint[]) AND ${IS_OF_PET} GROUP BY pet_id`,
        [petIds],
      )
      .execute(),
  ])
  return {
    found: {
      pets: new Map(pets.map((row) => [row.id, toPet(row)])),
      categories: new Map(categories.map((row) => [row.id, toCategory(row)])),
      barcodes: new Map(barcodes.map(({ id, barcode }) => [barcode, id])),
      usedCategories: new Set(used.map(({ id }) => id)),
      ...{ newPetIds, newCategoryIds },
    },
    latestRows: new Map(latest.map(({ pet_id, id }) => [pet_id, id])),
  }
}

/**
 * Without the pets that somebody has made since the others were locked: to make one of these again fails, and then it is
 * locked like the others.
 */
export function lockedOnly(found: LockedCatalog, isLocked: (petId: bigint) => boolean): LockedCatalog {
  return { ...found, pets: new Map([...found.pets].filter(([petId]) => isLocked(petId))) }
}

async function newIds(sql: SQL, sequence: string, count: number): Promise<bigint[]> {
  const rows = await sql<{ id: bigint }[]>`
    SELECT id FROM unnest(own_ids(${sequence}::regclass, ${count}::bigint)) AS new (id)`.execute()
  return rows.map(({ id }) => id)
}

/** `before` are the pets that were there. */
export function writeCatalog(
  sql: SQL,
  { pets, categories, newThresholds }: CatalogChanges,
  before: LockedCatalog['pets'],
): Promise<unknown>[] {
  const there = [...pets.keys()].filter((id) => before.has(id))
  // In the order of their ids: two who make the same ones at once do not wait for each other crosswise.
  const now = Array.from(pets.values())
    .flatMap((one) => (one === undefined ? [] : [one]))
    .sort((one, other) => (one.pet.id < other.pet.id ? -1 : 1))
  const added = now.filter(({ pet }) => !before.has(pet.id))
  const changed = now.filter(({ pet }) => before.has(pet.id))
  const removed = there.filter((id) => pets.get(id) === undefined)
  const writes: Promise<unknown>[] = []
  // Before anybody gets one that another had.
  if (there.length > 0)
    writes.push(
      sql`UPDATE pets SET barcode = NULL WHERE id = ANY (${ids(there)}::bigint[]) AND barcode IS NOT NULL`.execute(),
    )
  if (removed.length > 0)
    writes.push(sql`DELETE FROM pets WHERE id = ANY (${ids(removed)}::bigint[])`.execute())
  if (added.length > 0) writes.push(...addPets(sql, added))
  if (changed.length > 0) writes.push(...changePets(sql, changed))
  writes.push(...writeCategories(sql, categories))
  writes.push(
    ...raiseTo(
      sql,
      'pets',
      added.map(({ pet }) => pet.id),
    ),
  )
  for (const { by, ...category } of newThresholds) {
    writes.push(
      sql`SELECT 1 FROM stock WHERE pet_id IN (SELECT id FROM pets WHERE category_id = ${category.id} AND low_stock_at IS NULL)
        ORDER BY pet_id FOR NO KEY UPDATE`.execute(),
      ...newThreshold(DIALECT, category, by).map(({ text, values }) =>
        sql.unsafe(text, values.map(toParameter)).execute(),
      ),
    )
  }
  return writes
}

const ELEMENTS = { integer: 'bigint', text: 'text', boolean: 'boolean' } as const

type PetNow = NonNullable<ReturnType<CatalogChanges['pets']['get']>>

/** What `recordsOf` and `entriesOf` give, as tables. */
const PET_NAMES = Object.keys(PET_COLUMNS)
const RECORDS = `unnest(${Object.values(PET_COLUMNS).map((type, index) => `$${index + 1}::${ELEMENTS[type]}[]`)})`
const ENTRIES = 'unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[])'

function addPets(sql: SQL, pets: readonly PetNow[]): Promise<unknown>[] {
  return [
    sql.unsafe(`INSERT INTO pets (${PET_NAMES}) SELECT * FROM ${RECORDS}`, recordsOf(pets)).execute(),
    sql
      .unsafe(
        `INSERT INTO stock (pet_id, quantity, status, reserved, low_at, is_low) SELECT * FROM ${ENTRIES}`,
        entriesOf(pets),
      )
      .execute(),
  ]
}

function changePets(sql: SQL, pets: readonly PetNow[]): Promise<unknown>[] {
  return [
    sql
      .unsafe(
        `UPDATE pets SET ${PET_NAMES.map((name) => `${name} = now.${name}`)}
        FROM ${RECORDS} AS now (${PET_NAMES}) WHERE pets.id = now.id`,
        recordsOf(pets),
      )
      .execute(),
    sql
      .unsafe(
        `UPDATE stock SET quantity = now.quantity, status = now.status, reserved = now.reserved, low_at = now.low_at,
          is_low = now.is_low
        FROM ${ENTRIES} AS now (pet_id, quantity, status, reserved, low_at, is_low) WHERE stock.pet_id = now.pet_id`,
        entriesOf(pets),
      )
      .execute(),
  ]
}

function recordsOf(pets: readonly PetNow[]): string[] {
  const rows = pets.map(({ pet }) => petValues(pet))
  return PET_NAMES.map((_, index) => arrayOf(rows, (row) => element(row[index])))
}

function element(value: SqlValue | undefined): bigint | number | string | null {
  return typeof value === 'string'
    ? (quoted(value) ?? null)
    : value === true
      ? 't'
      : value === false
        ? 'f'
        : (value ?? null)
}

function entriesOf(pets: readonly PetNow[]): string[] {
  return [
    arrayOf(pets, ({ pet }) => pet.id),
    arrayOf(pets, ({ entry }) => entry.quantity),
    arrayOf(pets, ({ entry }) => entry.status),
    arrayOf(pets, ({ entry }) => entry.reserved),
    arrayOf(pets, ({ entry }) => entry.lowStockAt),
    arrayOf(pets, ({ entry }) => (isLow(entry) ? 't' : 'f')),
  ]
}

const CATEGORY_NAMES = Object.keys(CATEGORY_COLUMNS)
const PUT_CATEGORY = `INSERT INTO categories (${CATEGORY_NAMES}) VALUES (${CATEGORY_NAMES.map((_, index) => `$${index + 1}`)})
  ON CONFLICT (id) DO UPDATE SET ${CATEGORY_NAMES.map((name) => `${name} = excluded.${name}`)}`

function writeCategories(sql: SQL, categories: CatalogChanges['categories']): Promise<unknown>[] {
  const writes: Promise<unknown>[] = []
  for (const [id, category] of categories) {
    writes.push(
      (category === undefined
        ? sql`DELETE FROM categories WHERE id = ${id}`
        : sql.unsafe(PUT_CATEGORY, categoryValues(category).map(toParameter))
      ).execute(),
    )
  }
  return [...writes, ...raiseTo(sql, 'categories', [...categories.keys()])]
}

/** New ones get ids behind those that callers chose. */
function raiseTo(sql: SQL, table: OwnIds, given: readonly bigint[]): Promise<unknown>[] {
  return highestOwn(given).map((highest) => sql.unsafe(DIALECT.raiseIds(table), [highest]).execute())
}

function ids(some: readonly bigint[]): string {
  return arrayOf(some, (id) => id)
}
