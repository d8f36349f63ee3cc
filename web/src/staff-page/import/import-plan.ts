import type { NewPet, PetStatus, PetUpdate } from '@petstore/client'
import type { RowChange } from '../data/stock/adjustment-batch.ts'
import { batchesOf, type PetBatch, type PetLine } from './import-batches.ts'
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
}

export interface AddedLine {
  readonly line: number
  readonly pet: NewPet & { readonly id: bigint }
}

export interface ChangedLine {
  readonly line: number
  readonly petId: bigint
  /** As the file has it. */
  readonly name: string
  readonly update: PetUpdate
  readonly quantity?: RowChange & { readonly quantity: number; readonly expected: number }
}

export interface RefusedLine {
  readonly line: number
  readonly reason: string
}

/** What a file would change in the store. */
export interface ImportPlan {
  readonly added: readonly AddedLine[]
  readonly changed: readonly ChangedLine[]
  readonly refused: readonly RefusedLine[]
  readonly unchanged: number
  /** Categories that do not exist yet. */
  readonly categories: readonly bigint[]
  /** Saves everything except the quantities of existing pets. */
  readonly batches: readonly PetBatch[]
}

interface Store {
  readonly pets: ReadonlyMap<bigint, KnownPet>
  readonly categories: ReadonlySet<bigint>
  /** Whether the key may change quantities. */
  readonly mayChangeStock: boolean
}

/** Compares a file with the store, line by line. */
export function planImport(file: PetFile, { pets, categories, mayChangeStock }: Store): ImportPlan {
  const barcodeOwners = barcodeOwnersOf(pets)
  const taken = takenLines(file, barcodeOwners)
  const refused: RefusedLine[] = [...file.refused, ...taken.refused]
  const added: AddedLine[] = []
  const changed: ChangedLine[] = []
  const saved: PetLine[] = []
  let unchanged = 0
  for (const { line, pet } of taken.lines) {
    const { id, name } = pet
    const known = pets.get(id)
    if (known === undefined) {
      const newPet = newPetOf(pet)
      added.push({ line, pet: newPet })
      saved.push({ line, name, pet: newPet, isNew: true, completes: 'added' })
      continue
    }
    const update = updateOf(known, pet)
    const hasUpdate = Object.keys(update).length > 0
    const isCounted = pet.quantity !== known.quantity
    if (isCounted && !mayChangeStock) {
      refused.push({ line, reason: 'quantity differs, and this key may not change the stock' })
    } else if (isCounted || hasUpdate) {
      const quantity = { petId: id, quantity: pet.quantity, expected: known.quantity }
      changed.push({ line, petId: id, name, update, ...(isCounted ? { quantity } : {}) })
      const completes = isCounted ? undefined : 'changed'
      if (hasUpdate) saved.push({ line, name, pet: { ...update, id }, isNew: false, completes })
    } else unchanged++
  }
  return {
    added,
    changed,
    unchanged,
    refused: refused.sort((a, b) => a.line - b.line),
    categories: missingCategories(saved, categories),
    batches: batchesOf(saved, barcodeOwners),
  }
}

function missingCategories(saved: readonly PetLine[], existing: ReadonlySet<bigint>): readonly bigint[] {
  const wanted = new Set(saved.flatMap(({ pet }) => pet.categoryId ?? []))
  return [...wanted].filter((id) => !existing.has(id))
}

function barcodeOwnersOf(pets: ReadonlyMap<bigint, KnownPet>): ReadonlyMap<string, bigint> {
  const owners = new Map<string, bigint>()
  for (const { barcode, petId } of pets.values()) if (barcode !== undefined) owners.set(barcode, petId)
  return owners
}

/** If an id or a barcode occurs twice, the first line counts. A barcode that another pet keeps is refused. */
function takenLines(file: PetFile, barcodeOwners: ReadonlyMap<string, bigint>) {
  const ids = new Map<bigint, number>()
  const barcodes = new Map<string, number>()
  const inFile = new Map(file.lines.map(({ pet }) => [pet.id, pet]))
  const lines: FileLine[] = []
  const refused: RefusedLine[] = []
  for (const fileLine of file.lines) {
    const { line, pet } = fileLine
    const { id, barcode } = pet
    const lineOfId = ids.get(id)
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
      ids.set(id, line)
      if (barcode != null) barcodes.set(barcode, line)
    }
  }
  return { lines, refused }
}

function keepsBarcode(pet: FileLine['pet'] | undefined, barcode: string | null | undefined): boolean {
  return pet?.barcode === undefined || pet.barcode === barcode
}

function newPetOf({ barcode, lowStockAt, ...pet }: FileLine['pet']): AddedLine['pet'] {
  return {
    ...pet,
    ...(barcode == null ? {} : { barcode }),
    ...(lowStockAt == null ? {} : { lowStockAt }),
  }
}

function updateOf(known: KnownPet, pet: FileLine['pet']): PetUpdate {
  const { name, categoryId, status, barcode, lowStockAt } = pet
  return {
    ...(name === known.name ? {} : { name }),
    ...(categoryId === known.categoryId ? {} : { categoryId }),
    ...(status === known.status ? {} : { status }),
    ...(barcode === undefined || (barcode ?? undefined) === known.barcode ? {} : { barcode }),
    ...(lowStockAt === undefined || (lowStockAt ?? undefined) === known.lowStockAt ? {} : { lowStockAt }),
  }
}
