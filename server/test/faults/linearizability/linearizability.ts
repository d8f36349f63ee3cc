import { randomFrom, type TortureTask, untilOver } from '../../../scripts/torture-task.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { type BothLoads, keyedFigures, recordBoth, violationsOf } from '../../postgres/both-loads.ts'
import { crashesOf, type OutageReport, runOutages } from '../../postgres/outages.ts'
import { PET_IDS, startInstances, stockUp } from '../../postgres/shop.ts'
import { createDatabase } from '../../support/postgres-databases.ts'
import { PostgresServer } from '../../support/postgres-server.ts'

export interface DriveReport extends BothLoads {
  readonly seconds: number
  readonly contradictions: readonly string[]
  readonly deadlocks: number
}

const INSTANCES = 4
const WORKERS = 48
const KEYED_CALLERS = 16

/** Sends requests to four instances on one PostgreSQL at once, and checks the responses. */
export async function driveInstances(
  seed: number,
  isOver: (requests: number) => boolean,
): Promise<DriveReport> {
  const database = await createDatabase()
  const key = await stockUp(database.url)
  const instances = await startInstances(database.url, INSTANCES)
  let value = 0
  const began = performance.now()
  const both = await recordBoth(instances, {
    key,
    petIds: PET_IDS,
    workers: WORKERS,
    keyedCallers: KEYED_CALLERS,
    nextValue: () => ++value,
    random: randomFrom(seed),
    isOver,
  })
  const seconds = (performance.now() - began) / 1_000
  const [row] = await database.run(
    'SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = current_database()',
  )
  for (const instance of instances) await instance.stop()
  const store = await openStore(database.url, { tables: 'migrate' })
  const found = await violationsOf(both, store, new Map(PET_IDS.map((petId) => [petId, 0])))
  await store.close()
  await database.drop()
  return {
    ...both,
    seconds,
    contradictions: found,
    deadlocks: Number(row?.deadlocks),
  }
}

export function driveViolations({ contradictions: found, deadlocks, recorded }: DriveReport): string[] {
  const unexpected = [...recorded.statuses].filter(([status]) => status !== 200)
  return [
    ...found,
    ...(deadlocks > 0 ? [`PostgreSQL found ${deadlocks} deadlocks`] : []),
    ...unexpected.map(([status, count]) => `${count} requests were answered ${status}`),
  ]
}

/** The same while PostgreSQL crashes several times. */
export async function driveThroughCrashes(times: number): Promise<OutageReport> {
  const server = await PostgresServer.start()
  try {
    return await runOutages(crashesOf(server), times)
  } finally {
    await server.end()
  }
}

export function crashViolations({ contradictions: found, statuses }: OutageReport): string[] {
  const unexpected = statuses.filter((status) => status !== 200 && status !== 503)
  return [...found, ...unexpected.map((status) => `while PostgreSQL was away, an answer was ${status}`)]
}

/** Refusals must be immediate, and recovery fast. */
function lateViolations({ longestRefusalMs, recoveriesMs }: OutageReport): string[] {
  const back = Math.max(...recoveriesMs)
  return [
    ...(longestRefusalMs < 500
      ? []
      : [`a refusal took ${Math.round(longestRefusalMs)} ms, not less than 500`]),
    ...(back < 2_000 ? [] : [`back only after ${Math.round(back)} ms, not within 2,000`]),
  ]
}

const LEAST_REQUESTS = 50_000
const TELL_EVERY = 10_000
const CRASHES = 5

export const linearizabilityTask: TortureTask = {
  name: 'linearizability',
  promise:
    'Four instances behave like one register per pet, and make adjustments atomically and requests with a key once, even if PostgreSQL crashes.',
  share: 2,
  run: async (options) => {
    const { seed, isFull, say } = options
    const isOver = untilOver(options, LEAST_REQUESTS)
    let told = 0
    const driven = await driveInstances(seed, (requests) => {
      if (requests >= told + TELL_EVERY) {
        told = requests
        say(`${told} requests`)
      }
      return isOver(requests)
    })
    const crashes = isFull ? CRASHES : 1
    const crashed = await driveThroughCrashes(crashes)
    return {
      figures: [
        ['updates and reads on four instances', String(driven.recorded.requests)],
        ['a second', String(Math.round(driven.recorded.requests / driven.seconds))],
        ...keyedFigures(driven.keyed),
        ['deadlocks', String(driven.deadlocks)],
        ['crashes of PostgreSQL', String(crashes)],
        ['updates and reads meanwhile', String(crashed.requests)],
        ['adjustments and updates with a key meanwhile', String(crashed.keyed.counts.made)],
        ['longest refusal while it was away', `${Math.round(crashed.longestRefusalMs)} ms`],
        ['longest until both took updates again', `${Math.round(Math.max(...crashed.recoveriesMs))} ms`],
      ],
      violations: [...driveViolations(driven), ...crashViolations(crashed), ...lateViolations(crashed)],
    }
  },
}
