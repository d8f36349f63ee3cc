import type { NewPet, PetstoreClient } from '@petstore/client'

/** A pet as another system knows it, with its id and quantity. */
export type MasterRecord = NewPet & Required<Pick<NewPet, 'id' | 'quantity'>>

const CHANGES_PER_REQUEST = 1_000

/**
 * Makes the store match the records of another system: 10,000 pets take about 20 requests. Running it again, for example
 * after a failure, changes only the pets that still differ.
 */
export async function syncPets(
  client: PetstoreClient,
  records: readonly MasterRecord[],
  report: (message: string) => void = console.log,
): Promise<void> {
  const pets = records.map(({ quantity: _, ...pet }) => pet)
  await client.pets.upsertMany(pets, { onProgress: ({ saved }) => report(`${saved} pets saved`) })

  const quantities = new Map<bigint, number>()
  for await (const { petId, quantity } of client.inventory.list()) quantities.set(petId, quantity)
  const counts = records
    .filter(({ id, quantity }) => quantities.get(id) !== quantity)
    .map(({ id, quantity }) => ({ petId: id, quantity, expected: quantities.get(id) }))
  for (let start = 0; start < counts.length; start += CHANGES_PER_REQUEST) {
    await client.inventory.count(counts.slice(start, start + CHANGES_PER_REQUEST), {
      reference: 'nightly sync',
    })
  }
}
