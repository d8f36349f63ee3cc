import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { EventReader, type ReceivedEvent } from '../support/event-reader.ts'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { historyOf } from '../support/whole-store.ts'

const CHANGES = 5_000
const LEAST_CUTS = 11
const PET_IDS = [1n, 2n, 3n, 9007199254740993n, 9223372036854775807n]

let service: TestService
beforeAll(async () => {
  service = await TestService.start({
    realTime: true,
    settings: { metricsPort: '0' },
    heartbeatMs: 1_000,
  })
})
afterAll(() => service.stop())

const address = () => `${service.address}/v1/inventory/events`

async function openRequests(): Promise<number> {
  const text = await (await fetch(service.metricsAddress)).text()
  return Number(/^petstore_open_requests (\d+)$/m.exec(text)?.[1])
}

/** Reads and is disconnected repeatedly, until it has seen the wanted number of events. */
class CutReader {
  readonly events: ReceivedEvent[] = []
  cuts = 0
  /** True once the first events have arrived. */
  hasBegun = false

  async read(wanted: number): Promise<void> {
    let lastId: string | undefined
    while (this.events.length < wanted) lastId = await this.#readUntilCut(lastId)
  }

  async #readUntilCut(lastId: string | undefined): Promise<string | undefined> {
    const reader = await EventReader.open(
      address(),
      service.key,
      lastId === undefined ? {} : { 'Last-Event-ID': lastId },
    )
    await reader.until(() => reader.events.length > 0)
    this.hasBegun = true
    await Bun.sleep(Math.random() * 60)
    // At any point: within an event, or while it is catching up.
    reader.close()
    this.cuts++
    this.events.push(...reader.events.filter(({ name }) => name !== 'ready'))
    return reader.lastId ?? lastId
  }
}

describe('events under load', () => {
  test('a reader that is disconnected at random during 5,000 changes gets each once, in order for each pet', async () => {
    const steady = await EventReader.open(address(), service.key)
    await steady.until(() => steady.events.length === 1)
    const cutReaders = [new CutReader(), new CutReader()]
    const reading = Promise.all(cutReaders.map((reader) => reader.read(CHANGES)))
    await until(() => cutReaders.every(({ hasBegun }) => hasBegun))
    /**
     * Keeps the changes from getting ahead: the last ones are made after each reader was disconnected often
     * enough.
     */
    const isDue = (quantity: number) => {
      const fewestCuts = Math.min(...cutReaders.map(({ cuts }) => cuts))
      return fewestCuts >= Math.floor(((quantity - 1_000) / CHANGES) * (LEAST_CUTS + 1))
    }
    const made = new Map<bigint, number[]>(PET_IDS.map((petId) => [petId, []]))
    let next = 1_000
    const write = async () => {
      while (next < 1_000 + CHANGES) {
        const quantity = next++
        await until(() => isDue(quantity))
        const petId = PET_IDS[quantity % PET_IDS.length] as bigint
        await service.setQuantity(petId, `{"quantity": ${quantity}}`)
        if (quantity % 50 === 0) await Bun.sleep(1)
      }
    }
    await Promise.all(Array.from({ length: 8 }, write))
    for (const petId of PET_IDS) {
      made.set(
        petId,
        (await historyOf(service.store, petId)).map(({ after }) => after),
      )
    }
    await steady.until(() => steady.events.length === CHANGES + 1)
    await reading
    for (const { cuts } of cutReaders) expect(cuts).toBeGreaterThanOrEqual(LEAST_CUTS)
    for (const { events } of [...cutReaders, { events: steady.events.slice(1) }]) {
      expect(events).toHaveLength(CHANGES)
      expect(new Set(events.map(({ id }) => id)).size).toBe(CHANGES)
      for (const [petId, quantities] of made) {
        const told = events.filter(({ data }) => data.startsWith(`{"petId":${petId},`))
        expect(told.map(({ data }) => JSON.parse(data).after)).toEqual(quantities)
      }
    }
    steady.close()
  }, 120_000)

  test('a reader that does not read is disconnected, others are not, and it can resume', async () => {
    const { promise: begun, resolve: onBegun } = Promise.withResolvers<string>()
    await Bun.connect({
      hostname: '127.0.0.1',
      port: service.port,
      socket: {
        open: (socket) => {
          const head = `Host: a\r\nAuthorization: Bearer ${service.key}`
          socket.write(`GET /v1/inventory/events HTTP/1.1\r\n${head}\r\n\r\n`)
        },
        data: (socket, bytes) => {
          const [, id] = /^id: (.+)$/m.exec(bytes.toString()) ?? []
          if (id === undefined) return
          onBegun(id)
          socket.pause()
        },
        error: () => {},
      },
    })
    const firstId = await begun
    const quick = await EventReader.open(address(), service.key)
    await quick.until(() => quick.events.length === 1)
    await until(async () => (await openRequests()) === 2)
    let quantity = 100_000
    const change = () => ({
      type: 'set_quantity' as const,
      petId: 1n,
      quantity: ++quantity,
      keyId: 'k'.repeat(1_000),
      at: Date.now(),
    })
    // The kernel may buffer some megabytes per connection.
    for (let told = 1; told < 20_000; ) {
      await service.store.changeStock(Array.from({ length: 500 }, change))
      await service.setQuantity(1n, `{"quantity": ${++quantity}}`)
      told += 501
      await quick.until(() => quick.events.length === told)
    }
    await until(async () => (await openRequests()) === 1)
    expect(quick.ended).toBeUndefined()
    quick.close()

    const resumed = await EventReader.open(address(), service.key, { 'Last-Event-ID': firstId })
    await resumed.until(() => resumed.events.length > 0)
    expect(resumed.events[0]?.name).toBe('relist')
    resumed.close()
  }, 120_000)

  test('a reader that catches up gets its backlog at its own pace', async () => {
    const from = await service.store.latestEventCursor()
    let quantity = 500_000
    const change = () => ({
      type: 'set_quantity' as const,
      petId: 1n,
      quantity: ++quantity,
      keyId: 'key_a',
      at: Date.now(),
    })
    // About 1.2 MB, far more than may be unsent at a time.
    for (let round = 0; round < 9; round++) {
      await service.store.changeStock(Array.from({ length: 1_000 }, change))
    }
    const reader = await EventReader.open(address(), service.key, { 'Last-Event-ID': from })
    await reader.until(() => reader.events.length === 9_000)
    expect(reader.events.map(({ data }) => JSON.parse(data).after)).toEqual(
      Array.from({ length: 9_000 }, (_, index) => 500_001 + index),
    )
    expect(reader.ended).toBeUndefined()
    reader.close()
  })
})
