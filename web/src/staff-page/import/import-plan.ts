import {
  type Category,
  type KeyLimits,
  MAX_LENGTHS,
  type Metadata,
  type PetStatus,
  type PetUpsert,
  stringify,
} from '@petstore/client'
import {
  categoryFinder,
  nameKey,
  type RefusedLine,
  type RowCategory,
  rowOrReason,
} from '../../../../server/src/core/transfer/rows.ts'
import type { RowChange } from '../data/stock/adjustment-batch.ts'
import type { FileLine, PetFile } from './pet-file.ts'

/** A pet as it is in the store. */
export interface KnownPet {
  readonly petId: bigint
  readonly name: string
  readonly categoryId: bigint
  readonly status: PetStatus
  readonly quantity: number
  readonly barcode?: string | undefined
  /** The threshold of the pet itself, not of its category. */
  readonly lowStockAt?: number | undefined
  readonly metadata?: Metadata | undefined
}

/** The fields of a pet to save; those that are `undefined` stay as they are. */
export type PetFields = { readonly [Field in keyof PetUpsert]?: PetUpsert[Field] | undefined }

export interface PetLine {
  readonly line: number
  /** As the file has it. */
  readonly name: string
  readonly type: 'added' | 'changed'
  /** All fields of a new pet, the changed fields of another. A new pet may lack its id. */
  readonly pet: PetFields
  /** The name of the pet's category, which does not exist yet and has no id. */
  readonly newCategory?: string | undefined
  /** The counted quantity of an existing pet. */
  readonly quantity?: (RowChange & { readonly quantity: number; readonly expected: number }) | undefined
  /** A pet of the same name and category, if the new pet has no id: the line may have been imported before. */
  readonly sameNameAs?: bigint | undefined
  /** The pet only gives up its barcode, because another pet gets it in an earlier batch. */
  readonly isRelease?: true
}

export type PetBatch = readonly PetLine[]
export type NewCategory = Pick<Category, 'name'> & { readonly id: bigint | undefined }

export interface ImportPlan {
  readonly lines: readonly PetLine[]
  readonly refused: readonly RefusedLine[]
  readonly unchanged: number
  readonly categories: readonly NewCategory[]
  /** Save everything except the quantities of existing pets, in this order. */
  readonly batches: readonly PetBatch[]
}

export interface PreparedImport {
  readonly file: PetFile
  readonly plan: ImportPlan
  readonly limits: Pick<KeyLimits, 'minute' | 'day'>
}

interface Store {
  readonly pets: ReadonlyMap<bigint, KnownPet>
  readonly categories: Iterable<Category>
  readonly mayChangeStock: boolean
}

/** Returns whether the plan depends on a pet: a line has its id, its barcode or its name. */
export function concernsFile({ lines }: PetFile): (pet: KnownPet) => boolean {
  const ids = new Set(lines.map(({ pet }) => pet.id))
  const barcodes = new Set(lines.map(({ pet }) => pet.barcode))
  const names = new Set(lines.map(({ pet }) => nameKey(pet.name)))
  return ({ petId, barcode, name }) =>
    ids.has(petId) || (barcode !== undefined && barcodes.has(barcode)) || names.has(nameKey(name))
}

/** Compares a file with the store, line by line. `pets` has at least the pets that concern the file. */
export function planImport(file: PetFile, { pets, categories, mayChangeStock }: Store): ImportPlan {
  const barcodeOwners = new Map<string, bigint>()
  for (const { barcode, petId } of pets.values()) if (barcode !== undefined) barcodeOwners.set(barcode, petId)
  const accepted = acceptedLines(file, barcodeOwners)
  const refused: RefusedLine[] = [...file.refused, ...accepted.refused]
  const newCategories = new Map<string, NewCategory>()
  const idsByName = new Map(
    Array.from(pets.values(), ({ petId, name, categoryId }) => [`${categoryId} ${nameKey(name)}`, petId]),
  )
  const lines: PetLine[] = []
  const linesToSave: PetLine[] = []
  let unchanged = 0
  for (const { line, pet, category } of withCategories(accepted.lines, categories)) {
    if ('reason' in category) {
      refused.push(category)
      continue
    }
    const { id, name, quantity } = pet
    const known = id == null ? undefined : pets.get(id)
    const isCounted = known !== undefined && quantity !== known.quantity
    if (!mayChangeStock && quantity !== (known?.quantity ?? 0)) {
      const difference = known === undefined ? 'quantity is not 0' : 'quantity differs'
      refused.push({ line, reason: `${difference}, and this key may not change the stock` })
      continue
    }
    const planned: PetLine = {
      line,
      name,
      type: known === undefined ? 'added' : 'changed',
      pet: known === undefined ? newPetOf(pet, category) : updateOf(known, pet, category),
      newCategory: category.type === 'new' && category.id === undefined ? category.name : undefined,
      quantity: isCounted ? { petId: known.petId, quantity, expected: known.quantity } : undefined,
      sameNameAs: id == null ? idsByName.get(`${category.id} ${nameKey(name)}`) : undefined,
    }
    const hasFields = Object.entries(planned.pet).some(
      ([field, value]) => field !== 'id' && value !== undefined,
    )
    const mustBeSaved = hasFields || planned.newCategory !== undefined
    if (!isCounted && !mustBeSaved) {
      unchanged++
      continue
    }
    if (category.type === 'new') {
      const { id: newId, name: newName = `Category ${newId}` } = category
      newCategories.set(newId === undefined ? nameKey(newName) : String(newId), { id: newId, name: newName })
    }
    lines.push(planned)
    if (mustBeSaved) linesToSave.push(planned)
  }
  const batches = splitLines(linesToSave)
  return {
    lines,
    unchanged,
    refused: refused.sort((a, b) => a.line - b.line),
    categories: [...newCategories.values()],
    batches: [...splitLines(barcodeReleases(batches, barcodeOwners)), ...batches],
  }
}

/** If an id or a barcode occurs twice, the first line counts. A barcode that another pet keeps is refused. */
function acceptedLines(file: PetFile, barcodeOwners: ReadonlyMap<string, bigint>) {
  const ids = new Map<bigint, number>()
  const barcodes = new Map<string, number>()
  const inFile = new Map(file.lines.map(({ pet }) => [pet.id, pet]))
  const lines: FileLine[] = []
  const refused: RefusedLine[] = []
  for (const fileLine of file.lines) {
    const { line, pet } = fileLine
    const { id, barcode } = pet
    const lineOfId = id == null ? undefined : ids.get(id)
    const lineOfBarcode = barcode == null ? undefined : barcodes.get(barcode)
    const owner = barcode == null ? undefined : barcodeOwners.get(barcode)
    if (lineOfId !== undefined) {
      refused.push({ line, reason: `petId ${id} is already in line ${lineOfId}` })
    } else if (lineOfBarcode !== undefined) {
      refused.push({ line, reason: `barcode ${barcode} is already in line ${lineOfBarcode}` })
    } else if (owner !== undefined && owner !== id && keepsBarcode(inFile.get(owner), barcode)) {
      refused.push({ line, reason: `barcode ${barcode} is already used by pet ${owner}` })
    } else {
      lines.push(fileLine)
      if (id != null) ids.set(id, line)
      if (barcode != null) barcodes.set(barcode, line)
    }
  }
  return { lines, refused }
}

/** The lines with their categories. If a line gives a new category an id and a name, all its lines get both. */
function withCategories(lines: readonly FileLine[], categories: Iterable<Category>) {
  const findCategory = categoryFinder(categories)
  const found = lines.map(({ line, pet }) => ({
    line,
    pet,
    category: rowOrReason(line, () => findCategory(pet)),
  }))
  const newById = new Map<bigint, RowCategory>()
  const newByName = new Map<string, RowCategory>()
  for (const { category } of found) {
    if ('reason' in category || category.type === 'known') continue
    if (category.id === undefined || category.name === undefined) continue
    newById.set(category.id, category)
    newByName.set(nameKey(category.name), category)
  }
  return found.map(({ line, pet, category }) => {
    if ('reason' in category || category.type === 'known') return { line, pet, category }
    const { id, name = '' } = category
    const complete = id === undefined ? newByName.get(nameKey(name)) : newById.get(id)
    return { line, pet, category: complete ?? category }
  })
}

function keepsBarcode(pet: FileLine['pet'] | undefined, barcode: string | null | undefined): boolean {
  return pet?.barcode === undefined || pet.barcode === barcode
}

function newPetOf(row: FileLine['pet'], category: RowCategory): PetFields {
  const { id, name, status, quantity, barcode, lowStockAt, metadata } = row
  return {
    id: id ?? undefined,
    name,
    status,
    quantity,
    categoryId: category.id,
    barcode: barcode ?? undefined,
    lowStockAt: lowStockAt ?? undefined,
    metadata: metadataOf(metadata) ?? undefined,
  } satisfies Record<keyof PetUpsert, unknown>
}

function updateOf(known: KnownPet, row: FileLine['pet'], category: RowCategory): PetFields {
  const changed = <Value>(value: Value, before: unknown) =>
    (value ?? undefined) === before ? undefined : value
  return {
    id: known.petId,
    name: changed(row.name, known.name),
    categoryId: changed(category.id, known.categoryId),
    status: changed(row.status, known.status),
    barcode: changed(row.barcode, known.barcode),
    lowStockAt: changed(row.lowStockAt, known.lowStockAt),
    metadata: metadataOf(changed(row.metadata, known.metadata && JSON.stringify(known.metadata))),
  } satisfies Record<Exclude<keyof PetUpsert, 'quantity'>, unknown>
}

/** A file has metadata as JSON. Its names have the same order as in answers of the service. */
function metadataOf(text: FileLine['pet']['metadata']): Metadata | null | undefined {
  return text == null ? text : JSON.parse(text)
}

/** Below the limit of the service for the body of a batch, also with the ids of new categories. */
const MAX_BYTES = 220_000

/** The lines in batches that fit into one request each. */
function splitLines(lines: readonly PetLine[]): readonly PetBatch[] {
  const encoder = new TextEncoder()
  const batches: PetLine[][] = []
  let bytes = 0
  for (const line of lines) {
    const size = encoder.encode(stringify(line.pet)).length + 1
    const last = batches.at(-1)
    if (last === undefined || last.length === MAX_LENGTHS.PetBatch.pets || bytes + size > MAX_BYTES) {
      batches.push([line])
      bytes = size
    } else {
      last.push(line)
      bytes += size
    }
  }
  return batches
}

/**
 * Pets of one batch may swap their barcodes. But if a pet gets the barcode of a pet in a later batch, that pet has to
 * give it up first.
 */
function barcodeReleases(
  batches: readonly PetBatch[],
  barcodeOwners: ReadonlyMap<string, bigint>,
): readonly PetLine[] {
  const places = new Map(
    batches.flatMap((batch, index) => batch.map((line) => [line.pet.id, { line, index }] as const)),
  )
  const releases: PetLine[] = []
  for (const [index, batch] of batches.entries()) {
    for (const { pet } of batch) {
      const id = pet.barcode == null ? undefined : barcodeOwners.get(pet.barcode)
      const place = id === undefined ? undefined : places.get(id)
      if (id === undefined || place === undefined || place.index <= index) continue
      const { line, name } = place.line
      releases.push({ line, name, type: 'changed', pet: { id, barcode: null }, isRelease: true })
    }
  }
  return releases
}

export function requestsOf({ lines, categories, batches }: ImportPlan): number {
  const quantities = lines.filter(({ quantity }) => quantity !== undefined).length
  return categories.length + batches.length + Math.ceil(quantities / MAX_LENGTHS.InventoryAdjustment.changes)
}

/** How many requests the import needs, and how long it takes within the limits of the key. */
export function costWords(plan: ImportPlan, { minute, day }: Pick<KeyLimits, 'minute' | 'day'>): string {
  const requests = requestsOf(plan)
  const count = requests === 1 ? '1 request' : `${requests.toLocaleString('en')} requests`
  const overDay = requests - day.remaining
  if (overDay > 0) {
    return `The import needs ${count}, ${overDay.toLocaleString('en')} more than this key may send today. Import part of the file, or use a key with a higher limit.`
  }
  const minutes = Math.ceil(Math.max(0, requests - minute.remaining) / Math.max(1, minute.limit))
  if (minutes === 0) return `The import needs ${count} and takes less than a minute.`
  const duration = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return `The import needs ${count} and takes about ${duration}, because of the limits of this key. Keep this page open until it is done.`
}
