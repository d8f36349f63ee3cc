import type { NewPet, PetstoreClient } from '@petstore/client'

/** A pet as another system knows it, with its id and quantity. */
export type MasterRecord = NewPet & Required<Pick<NewPet, 'id' | 'quantity'>>

const ROWS_PER_REQUEST = 1_000

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
  for (const batch of batchesOf(pets)) {
    await client.pets.upsert({ pets: batch })
    report(`${batch.length} pets saved`)
  }

  const quantities = new Map<bigint, number>()
  for await (const { petId, quantity } of client.inventory.list()) quantities.set(petId, quantity)
  const counts = records
    .filter(({ id, quantity }) => quantities.get(id) !== quantity)
    .map(({ id, quantity }) => ({ petId: id, quantity, expected: quantities.get(id) }))
  for (const batch of batchesOf(counts)) await client.inventory.count(batch, { reference: 'nightly sync' })
}

function batchesOf<Row>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const count = Math.ceil(rows.length / ROWS_PER_REQUEST)
  return Array.from({ length: count }, (_, index) =>
    rows.slice(index * ROWS_PER_REQUEST, (index + 1) * ROWS_PER_REQUEST),
  )
}
