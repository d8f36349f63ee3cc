import { randomFrom, type TortureSummary, type TortureTask, untilOver } from '../../scripts/torture-task.ts'
import { GroupCommit } from '../../src/core/stock/group-commit.ts'
import type { StockRequest } from '../../src/core/stock/stock-request.ts'
import type { Clock } from '../../src/core/values/clock.ts'
import type { Store } from '../../src/store/store.ts'
import { LowStockModel } from '../support/low-stock-model.ts'
import { eventsAfter } from '../support/oversell-check.ts'

const START = 1_790_000_000_000
const BY = { keyId: 'key_a', at: START }
/** Few, and thresholds where the quantities are, so that almost everything crosses. */
const PET_IDS = Array.from({ length: 10 }, (_, index) => BigInt(index + 1))
const MAX_UNITS = 9
const CALLERS = 8
/** After so many changes both instances are closed and opened anew. */
const CHANGES_A_ROUND = 500
/** Has none; the other one's is fixed, or changes as well. */
const PLAIN_CATEGORY = 1n
const CATEGORY = 2n
const THRESHOLD = 4

export interface LowStockRun {
  readonly seed: number
  /** Of one and the same store, each time. */
  readonly open: (clock: Clock) => Promise<Store>
  readonly isOver: (changes: number) => boolean
  /** Whether a category gets other thresholds meanwhile: then only alternation and what each event says are checked. */
  readonly movesCategory: boolean
}

export interface LowStockReport {
  readonly changes: number
  readonly events: number
  readonly crossings: number
  readonly violations: readonly string[]
}

/** Random changes around thresholds by callers on two instances, whose events are held against a plain model. */
export async function crossThresholds(run: LowStockRun): Promise<LowStockReport> {
  const random = randomFrom(run.seed)
  const upTo = (most: number) => Math.floor(random() * (most + 1))
  let now = START
  const openBoth = () => Promise.all([run.open(() => now), run.open(() => now)])
  const thresholdOf = (categoryId: bigint) => {
    if (categoryId === PLAIN_CATEGORY) return null
    return run.movesCategory ? 'unknown' : THRESHOLD
  }
  const model = new LowStockModel(thresholdOf)
  const violations: string[] = []
  const open = new Map<bigint, bigint>()
  let changes = 0
  let events = 0

  let stores = await openBoth()
  let cursor = await stores[0].latestEventCursor()
  for (const id of [PLAIN_CATEGORY, CATEGORY]) {
    const threshold = id === CATEGORY ? { lowStockAt: THRESHOLD } : {}
    await stores[0].changeStock([{ ...BY, newCategory: { id, name: `Category ${id}`, ...threshold } }])
  }
  await stores[0].changeStock(PET_IDS.map((id) => creation(id)))

  function creation(id: bigint): StockRequest {
    const own = random() < 0.5 ? { lowStockAt: upTo(MAX_UNITS) } : {}
    const pet = { id, name: `Pet ${id}`, status: 'available', quantity: upTo(MAX_UNITS), ...own } as const
    return { ...BY, newPet: { ...pet, categoryId: category() } }
  }
  function category(): bigint {
    return random() < 0.5 ? PLAIN_CATEGORY : CATEGORY
  }
  function somePet(): bigint {
    return PET_IDS[upTo(PET_IDS.length - 1)] ?? 1n
  }
  function someRequest(): StockRequest {
    const petId = somePet()
    const kind = random() * 100
    if (kind < 30) return { ...BY, petId, quantity: upTo(MAX_UNITS) }
    if (kind < 45) {
      const second = PET_IDS.find((id) => id !== petId) ?? petId
      return { ...BY, changes: [petId, second].map((id) => ({ petId: id, delta: random() < 0.5 ? -1 : 2 })) }
    }
    if (kind < 55) return { ...BY, draft: { petId, quantity: 1 + upTo(2) } }
    if (kind < 63) return { ...BY, draft: { petId, quantity: 1 + upTo(2), holdSeconds: 1 } }
    if (kind < 80) {
      const [order] = open
      if (order === undefined) return { ...BY, petId, quantity: MAX_UNITS }
      open.delete(order[0])
      return { ...BY, orderId: order[0], petId: order[1], update: random() < 0.5 ? 'complete' : 'cancel' }
    }
    if (kind < 88) return { ...BY, petId, petPatch: { lowStockAt: random() < 0.4 ? null : upTo(MAX_UNITS) } }
    if (kind < 92) return { ...BY, petId, petPatch: { categoryId: category() } }
    if (kind < 94) return { ...BY, removedPet: petId }
    if (kind < 97) return creation(petId)
    if (!run.movesCategory) return { ...BY, holdsOf: [petId] }
    const lowStockAt = random() < 0.3 ? null : upTo(MAX_UNITS)
    return { ...BY, categoryId: CATEGORY, categoryPatch: { lowStockAt } }
  }

  try {
    while (!run.isOver(changes)) {
      const commits = stores.map(
        (store) =>
          new GroupCommit({ store, limits: { afterDecisions: (next) => setImmediate(next) }, observers: [] }),
      )
      const roundEnd = changes + CHANGES_A_ROUND
      const caller = async (commit: GroupCommit) => {
        while (changes < roundEnd) {
          changes++
          const outcome = await commit.change(someRequest(), (one) => one)
          if (typeof outcome === 'object' && 'order' in outcome && outcome.order.state === 'open')
            open.set(outcome.order.id, outcome.order.petId)
          if (random() < 0.05) now += 250
        }
      }
      await Promise.all(
        Array.from({ length: CALLERS }, (_, index) => caller(commits[index % 2] as GroupCommit)),
      )
      await Promise.all(stores.map((store) => store.close()))
      stores = await openBoth()
      const told = await eventsAfter(stores[1], cursor)
      cursor = told.at(-1)?.cursor ?? cursor
      events += told.length
      model.play(told)
      violations.push(...(await stores[0].findDamage()))
    }
  } finally {
    await Promise.all(stores.map((store) => store.close()))
  }
  return { changes, events, crossings: model.crossings, violations: [...violations, ...model.finish()] }
}

/** A task of `npm run torture`, on the database that `create` makes. */
export function lowStockTask(
  name: string,
  where: string,
  create: () => Promise<Pick<LowStockRun, 'open'> & { readonly discard: () => Promise<void> }>,
): TortureTask {
  return {
    name,
    promise: `${where}, by 8 callers on two instances and over restarts: each crossing of a threshold is told once, and none else.`,
    share: 1,
    run: async (options) => {
      const reports: LowStockReport[] = []
      const isOver = untilOver(options, LEAST_CHANGES)
      for (const movesCategory of [false, true]) {
        const { open, discard } = await create()
        try {
          reports.push(await crossThresholds({ seed: options.seed, open, isOver, movesCategory }))
        } finally {
          await discard()
        }
      }
      return summary(reports)
    },
  }
}

const LEAST_CHANGES = 10_000

function summary(reports: readonly LowStockReport[]): TortureSummary {
  const sum = (of: 'changes' | 'events' | 'crossings') =>
    String(reports.reduce((total, report) => total + report[of], 0))
  return {
    figures: [
      ['changes', sum('changes')],
      ['events played back', sum('events')],
      ['crossings', sum('crossings')],
    ],
    violations: reports.flatMap(({ violations }) => violations),
  }
}
