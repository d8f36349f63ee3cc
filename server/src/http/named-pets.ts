import type { TransferStore } from '../core/transfer/transfer-store.ts'
import type { ServiceError } from '../core/values/errors.ts'
import { quote } from '../core/values/field.ts'
import { invalid } from './operation.ts'

/** A line of a request, which names its pet by the id or by the barcode. */
export interface NamedPet {
  readonly petId?: bigint | undefined
  readonly barcode?: string | undefined
}

/** Throws unless the line names one pet, which no earlier line names in the same way. `elementName` is such as `a change`. */
export function requirePet(
  elementName: string,
  { petId, barcode }: NamedPet,
  seenPets: Set<bigint | string>,
): void {
  const pet = petId ?? barcode
  if (pet === undefined || (petId !== undefined && barcode !== undefined)) {
    throw invalid(
      `${elementName} must have either petId or barcode, got ${pet === undefined ? 'neither' : 'both'}`,
    )
  }
  if (seenPets.has(pet)) throw occursTwice(pet)
  seenPets.add(pet)
}

/** The lines with the ids of their pets. A line with an unknown barcode has none. Throws if two lines name the same pet. */
export async function findPets<Line extends NamedPet>(
  lines: readonly Line[],
  store: Pick<TransferStore, 'findStockedPets'>,
): Promise<readonly (Line & { readonly petId: bigint | undefined })[]> {
  const barcodes = lines.flatMap(({ barcode }) => barcode ?? [])
  const pets = barcodes.length === 0 ? [] : await store.findStockedPets([], barcodes)
  const petIds = new Map(pets.map(({ id, barcode }) => [barcode, id]))
  const seen = new Set<bigint>()
  return lines.map((line) => {
    const petId = line.barcode === undefined ? line.petId : petIds.get(line.barcode)
    if (petId !== undefined && seen.has(petId)) throw occursTwice(petId)
    if (petId !== undefined) seen.add(petId)
    return { ...line, petId }
  })
}

function occursTwice(pet: bigint | string): ServiceError {
  const name = typeof pet === 'bigint' ? `petId ${pet}` : `barcode ${quote(pet)}`
  return invalid(`${name} occurs twice; name each pet once`)
}
