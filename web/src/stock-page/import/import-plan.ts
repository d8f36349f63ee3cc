import type { NewPet, PetStatus, PetUpdate } from '@petstore/client'
import type { RowChange } from '../stock/adjustment-batch.ts'
import type { FileLine, PetFile } from './pet-file.ts'

/** A pet as it is in the store. */
export interface KnownPet {
  readonly petId: bigint
  readonly name: string
  readonly categoryId: bigint
  readonly status: PetStatus
  readonly quantity: number
  readonly barcode?: string | undefined
  /** Its own threshold. */
  readonly lowStockAt?: number | undefined
}

export interface AddedLine {
  readonly line: number
  readonly pet: NewPet & { readonly id: bigint }
}

export interface ChangedLine {
  readonly line: number
  readonly petId: bigint
  /** What it is called by now. */
  readonly name: string
  readonly update: PetUpdate
  readonly quantity?: RowChange & { readonly quantity: number; readonly expected: number }
}

export interface RefusedLine {
  readonly line: number
  readonly reason: string
}

/** What a file would do to the store. Nothing has been changed by it. */
export interface ImportPlan {
  readonly added: readonly AddedLine[]
  readonly changed: readonly ChangedLine[]
  readonly refused: readonly RefusedLine[]
  readonly unchanged: number
  /** Categories that are not there yet. */
  readonly categories: readonly bigint[]
  /** Pets whose barcode another one of the file gets: they have to let go of it first. */
  readonly releases: readonly bigint[]
}

interface Store {
  readonly pets: ReadonlyMap<bigint, KnownPet>
  readonly categories: ReadonlySet<bigint>
  /** Whether the key may change quantities. */
  readonly mayChangeStock: boolean
}

/** Compares a file with what is there, line by line. */
export function planImport(file: PetFile, { pets, categories, mayChangeStock }: Store): ImportPlan {
  const taken = takenLines(file, pets)
  const refused: RefusedLine[] = [...file.refused, ...taken.refused]
  const added: AddedLine[] = []
  const changed: ChangedLine[] = []
  let unchanged = 0
  for (const { line, pet } of taken.lines) {
    const known = pets.get(pet.id)
    if (known === undefined) {
      added.push({ line, pet: newPetOf(pet) })
      continue
    }
    const update = updateOf(known, pet)
    const isCounted = pet.quantity !== known.quantity
    if (isCounted && !mayChangeStock) {
      refused.push({ line, reason: 'quantity is another one, and this key may not change the stock' })
    } else if (isCounted || Object.keys(update).length > 0) {
      const quantity = { petId: pet.id, quantity: pet.quantity, expected: known.quantity }
      const { id: petId, name } = pet
      changed.push({ line, petId, name, update, ...(isCounted ? { quantity } : {}) })
    } else unchanged++
  }
  const wanted = [
    ...added.map(({ pet }) => pet.categoryId),
    ...changed.map(({ update }) => update.categoryId),
  ]
  return {
    ...{ added, changed, unchanged },
    refused: refused.sort((a, b) => a.line - b.line),
    categories: [...new Set(wanted)].filter((id) => id !== undefined && !categories.has(id)) as bigint[],
    releases: releasesOf(added, changed, pets),
  }
}

/** Of an id and of a barcode the first line counts; a barcode that another pet has and keeps is nobody else's. */
function takenLines(file: PetFile, pets: ReadonlyMap<bigint, KnownPet>) {
  const ids = new Map<bigint, number>()
  const barcodes = new Map<string, number>()
  const inFile = new Map(file.lines.map(({ pet }) => [pet.id, pet]))
  const owners = new Map([...pets.values()].map(({ barcode, petId }) => [barcode, petId]))
  const lines: FileLine[] = []
  const refused: RefusedLine[] = []
  for (const one of file.lines) {
    const { line, pet } = one
    const { id, barcode } = pet
    const before = ids.get(id)
    const owner = barcode == null ? undefined : owners.get(barcode)
    const keeps = owner !== undefined && owner !== id && keepsBarcode(inFile.get(owner), barcode)
    const sameCode = barcode == null ? undefined : barcodes.get(barcode)
    if (before !== undefined) refused.push({ line, reason: `petId ${id} stands in line ${before} already` })
    else if (sameCode !== undefined) {
      refused.push({ line, reason: `barcode ${barcode} stands in line ${sameCode} already` })
    } else if (keeps) refused.push({ line, reason: `barcode ${barcode} is that of pet ${owner}` })
    else {
      lines.push(one)
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

function releasesOf(
  added: readonly AddedLine[],
  changed: readonly ChangedLine[],
  pets: ReadonlyMap<bigint, KnownPet>,
): readonly bigint[] {
  const wanted = new Set([
    ...added.map(({ pet }) => pet.barcode),
    ...changed.map(({ update }) => update.barcode),
  ])
  return changed
    .filter(({ petId, update }) => {
      const had = pets.get(petId)?.barcode
      return had !== undefined && update.barcode !== undefined && wanted.has(had)
    })
    .map(({ petId }) => petId)
}
