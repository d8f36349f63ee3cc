import { type TortureSummary, type TortureTask, untilOver } from '../server/scripts/torture-task.ts'
import { BasketShop } from '../server/test/faults/baskets/basket-shop.ts'
import { type BasketReport, runBaskets } from '../server/test/faults/baskets/baskets.ts'

/** Few units of each pet, so that callers compete for them. */
const FEW_UNITS = 40
const ENOUGH_UNITS = 1_000_000_000
/** Answers. */
const CRASH_EVERY = [100, 1_000] as const
const LEAST_BASKETS = 1_000
const LEAST_BASKETS_WITHOUT_DEADLOCK = 100_000
const PROGRESS_EVERY = 10_000

/** The long form of baskets.test.ts. */
export const basketsTask: TortureTask = {
  name: 'baskets',
  promise:
    '64 callers create, change, sell, cancel and return baskets of 12 pets while the program and the database are killed: no half basket, nothing sold twice, no answer lost, and stock and documents agree.',
  share: 2,
  run: async (options) => {
    const summaries: TortureSummary[] = []
    for (const [name, open] of [
      ['SQLite', () => BasketShop.onSqlite()],
      ['two instances on PostgreSQL', () => BasketShop.onPostgres()],
    ] as const) {
      const isOver = untilOver({ ...options, minutes: options.minutes / 2 }, LEAST_BASKETS)
      const report = await sellBaskets(await open(), {
        seed: options.seed,
        units: FEW_UNITS,
        crashEvery: CRASH_EVERY,
        isOver: ({ create }) => isOver(create),
      })
      summaries.push(summaryOf(name, report))
      options.say(`${report.counts.create} baskets on ${name}`)
    }
    return {
      figures: summaries.flatMap(({ figures }) => figures),
      violations: summaries.flatMap(({ violations }) => violations),
    }
  },
}

export const basketDeadlocksTask: TortureTask = {
  name: 'basket-deadlocks',
  promise:
    'Two instances create, change and sell baskets with pets in random order, also those of each other, and PostgreSQL finds no deadlock.',
  share: 3,
  run: async (options) => {
    const isOver = untilOver({ ...options, minutes: 0 }, LEAST_BASKETS_WITHOUT_DEADLOCK)
    let shown = 0
    const report = await sellBaskets(await BasketShop.onPostgres(), {
      seed: options.seed,
      units: ENOUGH_UNITS,
      isOver: ({ create }) => {
        if (create >= shown + PROGRESS_EVERY) {
          shown = create
          options.say(`${create} baskets`)
        }
        return isOver(create)
      },
    })
    return summaryOf('two instances', report)
  },
}

async function sellBaskets(
  shop: BasketShop,
  options: Parameters<typeof runBaskets>[1],
): Promise<BasketReport> {
  try {
    return await runBaskets(shop, options)
  } finally {
    await shop.close()
  }
}

function summaryOf(name: string, { counts, crashes, violations }: BasketReport): TortureSummary {
  const made = Object.entries(counts).map(([what, count]) => `${what} ${count}`)
  const crashed = Array.from(crashes, ([what, count]) => `${what} crashed ${count} times`)
  return {
    figures: [[name, [...made, ...crashed].join(', ')]],
    violations: violations.map((violation) => `${name}: ${violation}`),
  }
}
