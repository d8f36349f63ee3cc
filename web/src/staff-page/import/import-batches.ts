import { type PetUpsert, stringify } from '@petstore/client'

/** What a batch saves for one line of the file. */
export interface PetLine {
  readonly line: number
  readonly name: string
  readonly pet: PetUpsert & { readonly id: bigint }
  readonly isNew: boolean
  /** `undefined` if the line needs another request after this batch. */
  readonly completes: 'added' | 'changed' | undefined
}

export type PetBatch = readonly PetLine[]

const MAX_PETS = 1_000
/** Below the limit of the service for the body of a batch, 256 KiB. */
const MAX_BYTES = 250_000

/** The lines in batches that fit into one request each, to be sent in this order. */
export function batchesOf(
  lines: readonly PetLine[],
  barcodeOwners: ReadonlyMap<string, bigint>,
): readonly PetBatch[] {
  const batches = splitLines(lines)
  return [...splitLines(barcodeReleases(batches, barcodeOwners)), ...batches]
}

function splitLines(lines: readonly PetLine[]): readonly PetBatch[] {
  const encoder = new TextEncoder()
  const batches: PetLine[][] = []
  let bytes = 0
  for (const line of lines) {
    const size = encoder.encode(stringify(line.pet)).length + 1
    const last = batches.at(-1)
    if (last === undefined || last.length === MAX_PETS || bytes + size > MAX_BYTES) {
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
      const owner = pet.barcode == null ? undefined : barcodeOwners.get(pet.barcode)
      const place = owner === undefined ? undefined : places.get(owner)
      if (place === undefined || place.index <= index) continue
      const { line } = place
      releases.push({ ...line, pet: { id: line.pet.id, barcode: null }, completes: undefined })
    }
  }
  return releases
}
