import {
  randomFrom,
  type TortureSummary,
  type TortureTask,
  untilOver,
} from '../../../scripts/torture-task.ts'
import { PET_IDS, stockUp } from '../../postgres/shop.ts'
import { createDatabase } from '../../support/postgres-databases.ts'
import { killPairMember } from '../kills/kill-pair-member.ts'
import { type KillOptions, waitForCommit } from '../kills/kills.ts'
import { checkFile } from '../kills/shown-stock.ts'
import { FaultyShop } from '../webhooks/faulty-shop.ts'
import { OrderLoad } from './order-load.ts'
import { OrderProof } from './order-proof.ts'

export interface OrderKillReport {
  readonly kills: number
  readonly load: OrderLoad
  readonly proof: OrderProof
  readonly violations: readonly string[]
}

/** Few, so that callers compete for them; nobody orders the other two. */
const ORDERED = PET_IDS.slice(0, 3)
const CALLERS = 12
const MAX_ANSWERS = 250
/** Otherwise at any time. */
const IN_COMMIT_CHANCE = 0.7
const LONGEST_COMMIT_MS = 1
const START_KILL_CHANCE = 0.1
const LONGEST_START_MS = 250
/** Histories are read from the first change, so not after every kill. */
const HISTORIES_EVERY = 20

/**
 * Kills the service while callers order, complete and cancel, and proves after each start that nothing was sold
 * twice.
 */
export async function killAmongOrders({ seed, isOver, say }: KillOptions): Promise<OrderKillReport> {
  const random = randomFrom(seed)
  const shop = await FaultyShop.closed()
  const load = new OrderLoad({ key: shop.key, petIds: ORDERED, random, callers: CALLERS })
  const proof = await OrderProof.begin(shop.url, PET_IDS.map(BigInt))
  const violations: string[] = []
  let kills = 0
  try {
    await shop.start()
    while (!isOver(kills)) {
      const loading = load.run([shop.address], () => false)
      await load.untilAnswered(1 + random() * MAX_ANSWERS)
      if (random() < IN_COMMIT_CHANCE) waitForCommit(shop.path, random() * LONGEST_COMMIT_MS)
      await shop.kill()
      await loading
      kills++
      if (random() < START_KILL_CHANCE) {
        await shop.killDuringStart(random() * LONGEST_START_MS)
        kills++
      }
      await shop.start()
      await load.settle(shop.address)
      violations.push(...(await proof.violations(load, readsHistories(kills, isOver))))
      violations.push(...checkFile(shop.path))
      if (kills % HISTORIES_EVERY === 0) say?.(`${kills} kills, ${proof.events} events`)
    }
  } finally {
    await shop.close()
  }
  return { kills, load, proof, violations: [...violations, ...lastWords(load, proof)] }
}

/** The same with two instances on PostgreSQL, of which one is killed each time while the other continues. */
export async function killOneOfTwoAmongOrders({ seed, isOver, say }: KillOptions): Promise<OrderKillReport> {
  const random = randomFrom(seed)
  const database = await createDatabase()
  const load = new OrderLoad({
    key: await stockUp(database.url),
    petIds: ORDERED,
    random,
    callers: CALLERS,
  })
  const proof = await OrderProof.begin(database.url, PET_IDS.map(BigInt))
  const violations: string[] = []
  const kills = await killPairMember(database, {
    load,
    random,
    maxAnswers: MAX_ANSWERS,
    isOver,
    afterKill: async (killed, address) => {
      await load.settle(address)
      violations.push(...(await proof.violations(load, readsHistories(killed, isOver))))
      if (killed % HISTORIES_EVERY === 0) say?.(`${killed} kills, ${proof.events} events`)
    },
  })
  return { kills, load, proof, violations: [...violations, ...lastWords(load, proof)] }
}

function readsHistories(kills: number, isOver: KillOptions['isOver']): { readsHistories: boolean } {
  return { readsHistories: kills % HISTORIES_EVERY === 0 || isOver(kills) }
}

function lastWords(load: OrderLoad, proof: OrderProof): string[] {
  return [...proof.wrongDeliveries(load), ...load.surprises]
}

const LEAST_KILLS = 200

const promise = (where: string) =>
  `${where}, despite kills: acknowledged orders are kept, and the units sold and reserved never exceed the stock.`

export const ordersTask: TortureTask = {
  name: 'orders',
  promise: promise('On SQLite'),
  share: 2,
  run: async (options) => {
    const isOver = untilOver(options, LEAST_KILLS)
    return summary(await killAmongOrders({ seed: options.seed, isOver, say: options.say }))
  },
}

export const ordersPostgresTask: TortureTask = {
  name: 'orders-postgres',
  promise: promise('On two instances on PostgreSQL'),
  share: 2,
  run: async (options) => {
    const isOver = untilOver(options, LEAST_KILLS)
    return summary(await killOneOfTwoAmongOrders({ seed: options.seed, isOver, say: options.say }))
  },
}

function summary({ kills, load, proof, violations }: OrderKillReport): TortureSummary {
  const { counts } = load
  const expired = [...proof.orders.values()].filter(({ state }) => state === 'expired').length
  return {
    figures: [
      ['kills', String(kills)],
      ['orders made', String(proof.orders.size)],
      ['refused for lack of stock', String(counts.refused)],
      ['completed', String(counts.completed)],
      ['cancelled', String(counts.cancelled)],
      ['holds that ran out', String(expired)],
      ['too late for either', String(counts.tooLate)],
      ['deliveries', String(counts.delivered)],
      ['sent again with their Idempotency-Key after a kill', String(counts.repeated)],
      ['events played back', String(proof.events)],
    ],
    violations,
  }
}
