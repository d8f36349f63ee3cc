import { PetstoreClient } from '../../src/index.ts'

export interface Contention {
  /** Instances of the service with the same data; callers use them in turn. */
  readonly baseUrls: readonly string[]
  readonly apiKey: string
  readonly petId: bigint
  readonly callers: number
  readonly timesEach: number
}

/** Unlike a read and an update, safe with concurrent callers. */
export const addOne = (client: PetstoreClient, petId: bigint): Promise<unknown> =>
  client.inventory.receive({ petId, quantity: 1 })

/** Many callers, each with its own client, add 1 to the same pet at the same time. Returns how much it grew. */
export async function growth(contention: Contention): Promise<number> {
  const { baseUrls, apiKey, petId, callers, timesEach } = contention
  const clients = Array.from({ length: callers }, (_, index) => {
    const baseUrl = baseUrls[index % baseUrls.length] ?? ''
    return new PetstoreClient({ baseUrl, apiKey })
  })
  const quantity = async () => (await clients[0]?.inventory.get(petId))?.quantity ?? Number.NaN
  const before = await quantity()
  await Promise.all(
    clients.map(async (client) => {
      for (let count = 0; count < timesEach; count++) await addOne(client, petId)
    }),
  )
  return (await quantity()) - before
}
