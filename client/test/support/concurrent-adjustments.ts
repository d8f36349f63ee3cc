import { PetstoreClient } from '../../src/index.ts'

export interface Contention {
  /** Instances of the service with the same data; callers use them in turn. */
  readonly baseUrls: readonly string[]
  readonly apiKey: string
  readonly petId: bigint
  readonly callers: number
  readonly timesEach: number
}

type Addition = (client: PetstoreClient, petId: bigint) => Promise<unknown>

/** Safe with concurrent callers. */
export const byAdjustment: Addition = (client, petId) => client.inventory.receive({ petId, quantity: 1 })

/** Loses updates with concurrent callers. */
export const byPlainUpdate: Addition = async (client, petId) => {
  const { quantity } = await client.inventory.get(petId)
  return client.inventory.set(petId, { quantity: quantity + 1 })
}

/** Many callers, each with its own client, add 1 to the same pet at the same time. Returns how much it grew. */
export async function growth(contention: Contention, add: Addition): Promise<number> {
  const { baseUrls, apiKey, petId, callers, timesEach } = contention
  const clients = Array.from({ length: callers }, (_, index) => {
    const baseUrl = baseUrls[index % baseUrls.length] ?? ''
    return new PetstoreClient({ baseUrl, apiKey })
  })
  const quantity = async () => (await clients[0]?.inventory.get(petId))?.quantity ?? Number.NaN
  const before = await quantity()
  await Promise.all(
    clients.map(async (client) => {
      for (let count = 0; count < timesEach; count++) await add(client, petId)
    }),
  )
  return (await quantity()) - before
}
