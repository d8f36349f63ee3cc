import { describe, expect, test } from 'bun:test'
import { randomFrom } from '../../scripts/torture-task.ts'
import type { Store } from '../../src/store/store.ts'
import { contradictions } from '../postgres/register-check.ts'
import { record } from '../postgres/workload.ts'
import { asUpdate } from '../store/plain-rows.ts'
import { TestService } from '../support/test-service.ts'

const PET_IDS = [1, 2, 3]
const SEED = 20_261_115
const REQUESTS = 400
/** Few, so that hardly anything happens at once: then only one order is possible, and a fault cannot hide. */
const WORKERS = 3

/** What the check finds in the answers of a service with this fault between it and its store. */
async function findingsWith(fault: (store: Store) => Store): Promise<string[]> {
  const service = await TestService.start({ realTime: true, wrapStore: fault })
  try {
    const items = (await service.call('GET', '/inventory')).items
    const initial = new Map(items.map(({ petId, quantity }) => [petId, quantity]))
    let value = 1_000
    const { operations, statuses } = await record([service], {
      ...{
        key: service.key,
        petIds: PET_IDS,
        workers: WORKERS,
        nextValue: () => ++value,
        random: randomFrom(SEED),
      },
      isOver: (requests) => requests >= REQUESTS,
    })
    expect([...statuses]).toEqual([[200, REQUESTS]])
    return contradictions(
      operations.filter(({ petId }) => PET_IDS.includes(petId)),
      initial,
    )
  } finally {
    await service.stop()
  }
}

describe('the check of what a live service answered', () => {
  test('finds nothing in a sound one', async () => {
    expect(await findingsWith((store) => store)).toEqual([])
  })

  test('finds updates that are acknowledged and lost, one batch in five', async () => {
    let batches = 0
    const losing = (store: Store): Store => ({
      ...store,
      changeStock: async (changes) =>
        ++batches % 5 === 0
          ? changes.map(asUpdate).map(({ petId, quantity }) => ({ petId, quantity, status: 'available' }))
          : store.changeStock(changes),
    })
    expect(await findingsWith(losing)).not.toEqual([])
  })

  test('finds reads that are a few changes behind', async () => {
    let updates = 0
    const lagging = (store: Store): Store => ({
      ...store,
      changeStock: (changes) => {
        updates++
        return store.changeStock(changes)
      },
      // Says that nothing has changed until the tenth update.
      version: () => (updates === 0 ? store.version() : Math.floor(updates / 10)),
    })
    expect(await findingsWith(lagging)).not.toEqual([])
  })
})
