import { describe, expect, test } from 'bun:test'
import { randomFrom } from '../../../scripts/torture-task.ts'
import {
  type Command,
  type Outcome,
  type Result,
  type SubmittedCommand,
  typedResults,
} from '../../../src/core/stock/command.ts'
import type { Store } from '../../../src/store/store.ts'
import { recordBoth, violationsOf } from '../../postgres/both-loads.ts'
import { contradictions } from '../../postgres/register-check.ts'
import { record } from '../../postgres/workload.ts'
import { asUpdate } from '../../store/plain-rows.ts'
import { TestService } from '../../support/test-service.ts'

const PET_IDS = [1, 2, 3]
const SEED = 20_261_115
const REQUESTS = 400
/** Few, so that little happens concurrently: then only one order is possible, and a fault cannot hide. */
const WORKERS = 3

async function withFault<T>(
  fault: (store: Store) => Store,
  look: (service: TestService, initial: ReadonlyMap<number, number>) => Promise<T>,
): Promise<T> {
  const service = await TestService.start({ realTime: true, wrapStore: fault })
  try {
    const items = (await service.call('GET', '/inventory')).items
    const stocked = items.filter(({ petId }) => PET_IDS.includes(petId))
    return await look(service, new Map(stocked.map(({ petId, quantity }) => [petId, quantity])))
  } finally {
    await service.stop()
  }
}

function loadOf({ key }: TestService) {
  let value = 1_000
  return {
    key,
    petIds: PET_IDS,
    workers: WORKERS,
    nextValue: () => ++value,
    random: randomFrom(SEED),
    isOver: (requests: number) => requests >= REQUESTS,
  }
}

/** The findings of the check with this fault between the service and its store. */
function findingsWith(fault: (store: Store) => Store): Promise<string[]> {
  return withFault(fault, async (service, initial) => {
    const { operations, statuses } = await record([service], loadOf(service))
    expect([...statuses]).toEqual([[200, REQUESTS]])
    return contradictions(
      operations.filter(({ petId }) => PET_IDS.includes(petId)),
      initial,
    )
  })
}

/** The same with adjustments and repeated requests. */
function findingsOfBothWith(fault: (store: Store) => Store): Promise<string[]> {
  return withFault(fault, async (service, initial) => {
    const both = await recordBoth([service], { ...loadOf(service), keyedCallers: WORKERS })
    const { made, refused, repeated, reused } = both.keyed.counts
    expect(Math.min(made, refused, repeated, reused)).toBeGreaterThan(0)
    return violationsOf(both, service.store, initial)
  })
}

describe('the check of the responses of a live service', () => {
  test('finds nothing in a correct one', async () => {
    expect(await findingsWith((store) => store)).toEqual([])
  })

  test('finds updates that are acknowledged and lost, one batch in five', async () => {
    let batches = 0
    const losing = (store: Store): Store => ({
      ...store,
      changeStock: async (changes) =>
        ++batches % 5 === 0
          ? typedResults(
              changes,
              changes.map(asUpdate).map(({ petId, quantity }) => ({
                type: 'done',
                item: { petId, quantity, status: 'available' },
              })),
            )
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
      // Reports no change until the tenth update.
      version: () => (updates === 0 ? store.version() : Math.floor(updates / 10)),
    })
    expect(await findingsWith(lagging)).not.toEqual([])
  })
})

type Make = (request: Command) => Promise<Outcome>
type Change = (request: SubmittedCommand) => Promise<Result>

/** Handles requests one by one: the fault decides the outcome, and can make the change without its key. */
function oneByOne(fault: (make: Make) => Change): (store: Store) => Store {
  return (store) => {
    const change = fault(async (request) => {
      const [outcome] = await store.changeStock([request])
      return outcome
    })
    const changeStock: Store['changeStock'] = async (requests) => {
      const outcomes: Result[] = []
      for (const request of requests) outcomes.push(await change(request))
      return typedResults(requests, outcomes)
    }
    return { ...store, changeStock }
  }
}

/** Correct idempotency keys, in memory. `remember` may change how. */
function withKeys(make: Make, remember = (write: () => void) => write(), hasFingerprints = true): Change {
  const known = new Map<string, { readonly fingerprint: string; readonly answer: string }>()
  return async (request) => {
    const { idempotency, ...command } = request
    if (idempotency === undefined) return make(command)
    const { key, fingerprint } = idempotency
    const before = known.get(key)
    if (before !== undefined) {
      const isSame = !hasFingerprints || before.fingerprint === fingerprint
      return isSame ? { type: 'answered', answer: before.answer, isReplay: true } : { type: 'key_reused' }
    }
    const answer = idempotency.answer(await make(command), Number.POSITIVE_INFINITY)
    remember(() => known.set(key, { fingerprint, answer }))
    return { type: 'answered', answer, isReplay: false }
  }
}

/** Each change in its own commit. */
function torn(make: Make): Make {
  return async (request) => {
    if (request.type !== 'adjust') return make(request)
    const whole: Outcome[] = []
    for (const change of request.changes) {
      const outcome = await make({ ...request, changes: [change] })
      if (outcome.type === 'refused') return outcome
      whole.push(outcome)
      await Bun.sleep(2)
    }
    return { type: 'done', items: whole.flatMap((outcome) => ('items' in outcome ? outcome.items : [])) }
  }
}

/** Makes the possible changes, whatever happens to the others. */
function partial(make: Make): Make {
  return async (request) => {
    const outcome = await make(request)
    if (request.type !== 'adjust' || outcome.type !== 'refused') return outcome
    const failed = new Set(outcome.failures.map(({ index }) => index))
    const changes = request.changes.filter((_, index) => !failed.has(index))
    if (changes.length > 0) await make({ ...request, changes })
    return outcome
  }
}

function unconditional(make: Make): Make {
  return (request) =>
    request.type === 'adjust'
      ? make({ ...request, changes: request.changes.map(({ expected: _, ...change }) => change) })
      : make(request)
}

describe('the check of adjustments and of repeated requests', () => {
  test.each([
    ['a correct service', (store: Store) => store],
    ['a service that handles requests one by one', oneByOne((make) => withKeys(make))],
  ])('finds nothing in %s', async (_, fault) => {
    expect(await findingsOfBothWith(fault)).toEqual([])
  })

  test.each([
    ['adjustments that are made in several commits', (make: Make) => withKeys(torn(make)), 'a list shows'],
    ['adjustments that are made in part', (make: Make) => withKeys(partial(make)), 'never answered'],
    [
      'changes despite another expected quantity',
      (make: Make) => withKeys(unconditional(make)),
      'answered as if on',
    ],
    [
      'keys that are stored after the commit',
      (make: Make) => withKeys(make, (write) => setTimeout(write, 5)),
      'was decided twice',
    ],
    ['keys that are not stored', (make: Make) => withKeys(make, () => {}), 'was decided twice'],
    [
      'keys that match any request',
      (make: Make) => withKeys(make, (write) => write(), false),
      'a key of another request was answered 200',
    ],
  ])('finds %s', async (_, fault, finding) => {
    expect((await findingsOfBothWith(oneByOne(fault))).join('\n')).toContain(finding)
  })
})
