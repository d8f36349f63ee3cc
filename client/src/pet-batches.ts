import { fieldsOf, serializeBody } from './json.ts'
import type { BodyOf } from './request.ts'

type Pet = BodyOf<'createPet'>

const MAX_PETS = 1_000
/** Below the limit of the service for the body of a batch, 256 KiB. */
const MAX_BYTES = 250_000

/** The pets in batches that fit into one request each. */
export async function* batchesOf(
  pets: Iterable<Pet> | AsyncIterable<Pet>,
): AsyncGenerator<readonly Pet[], void, undefined> {
  const encoder = new TextEncoder()
  let batch: Pet[] = []
  let bytes = 0
  for await (const pet of pets) {
    const size = encoder.encode(serializeBody(pet, fieldsOf('NewPet'))).length + 1
    if (batch.length === MAX_PETS || (batch.length > 0 && bytes + size > MAX_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(pet)
    bytes += size
  }
  if (batch.length > 0) yield batch
}
