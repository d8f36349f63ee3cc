import { randomFrom } from '../../../scripts/torture-task.ts'
import type { GroupCommit } from '../../../src/core/stock/group-commit.ts'
import type { Clock } from '../../../src/core/values/clock.ts'
import type { Store } from '../../../src/store/store.ts'
import { applyThresholdIn, groupCommit } from '../../support/apply-thresholds.ts'
import { LowStockModel } from '../../support/low-stock-model.ts'
import { eventsAfter } from '../../support/oversell-check.ts'
import {
  CATEGORY,
  categoryRequest,
  categoryThresholds,
  PLAIN_CATEGORY,
  ThresholdRequests,
} from './requests.ts'

const START = 1_790_000_000_000
const CALLERS = 8
/** After this many changes both instances are closed and reopened. */
const CHANGES_A_ROUND = 500

export interface LowStockRun {
  readonly seed: number
  /** Opens the same store each time. */
  readonly open: (clock: Clock) => Promise<Store>
  readonly changes: number
  /**
   * Whether category thresholds change meanwhile: then only alternation and the content of each event are
   * checked.
   */
  readonly movesCategory: boolean
}

export interface LowStockReport {
  readonly crossings: number
  readonly violations: readonly string[]
}

/** Random changes around thresholds by callers on two instances, whose events are compared with a simple model. */
export async function crossThresholds(run: LowStockRun): Promise<LowStockReport> {
  const random = randomFrom(run.seed)
  let now = START
  const openBoth = () => Promise.all([run.open(() => now), run.open(() => now)])
  const requests = new ThresholdRequests(random, run.movesCategory)
  const model = new LowStockModel(categoryThresholds(run.movesCategory))
  const violations: string[] = []
  let changes = 0

  let stores = await openBoth()
  let cursor = await stores[0].latestEventCursor()
  await stores[0].changeStock([categoryRequest(PLAIN_CATEGORY), categoryRequest(CATEGORY)])
  await stores[0].changeStock(requests.first())

  try {
    while (changes < run.changes) {
      const commits = stores.map(groupCommit)
      const roundEnd = changes + CHANGES_A_ROUND
      const caller = async (store: Store, commit: GroupCommit) => {
        while (changes < roundEnd) {
          changes++
          const request = requests.next()
          const outcome = await commit.run(request)
          if (request.type === 'update_category') await applyThresholdIn(store, request.categoryId, commit)
          if ('order' in outcome && outcome.order.state === 'open') requests.opened(outcome.order)
          if (random() < 0.05) now += 250
        }
      }
      await Promise.all(
        Array.from({ length: CALLERS }, (_, index) =>
          caller(stores[index % 2] as Store, commits[index % 2] as GroupCommit),
        ),
      )
      await Promise.all(stores.map((store) => store.close()))
      stores = await openBoth()
      const told = await eventsAfter(stores[1], cursor)
      cursor = told.at(-1)?.cursor ?? cursor
      model.play(told)
      violations.push(...(await stores[0].findDamage()))
    }
  } finally {
    await Promise.all(stores.map((store) => store.close()))
  }
  return { crossings: model.crossings, violations: [...violations, ...model.finish()] }
}
