import { join } from 'node:path'
import type { Pace } from './cases.ts'
import { checkCounts, checkOrders, WrongResponse } from './checks.ts'
import { createDataset, type Dataset } from './dataset.ts'
import { runFor, type Sample, toSample, WRK_TIMEOUT } from './measure.ts'
import { createPostgresDatabase, delayCommits, vacuum } from './postgres.ts'
import { BOTH_CORES, pinned, run, type ServerProcess } from './processes.ts'
import { type InstanceResult, spreadOf, sum, summarise } from './results.ts'
import type { Session } from './rounds.ts'
import { LIST_PATH, ORDERS_PATH, type Secrets, type SharedTarget } from './target.ts'

const PETS = 10_000
/** The pet of the orders of one pet; the other loads change all pets before it. */
const ORDERED_PET = PETS
/** The approximate cost of a synchronous standby. */
const DELAY_MS = 3

const LOAD_TITLES = {
  updates: 'updates',
  orders: 'orders',
  'orders-one-pet': 'orders of one pet',
} as const

export interface InstanceRow {
  readonly load: keyof typeof LOAD_TITLES
  readonly instances: number
  readonly callers: number
  readonly commitDelayMs: number
}

/** In the order of the report. */
export const INSTANCE_ROWS: readonly InstanceRow[] = [
  ...[0, DELAY_MS].flatMap((commitDelayMs) =>
    [64, 256].flatMap((callers) =>
      [1, 2, 4].map((instances) => ({ load: 'updates' as const, instances, callers, commitDelayMs })),
    ),
  ),
  { load: 'orders', instances: 1, callers: 64, commitDelayMs: 0 },
  { load: 'orders', instances: 2, callers: 64, commitDelayMs: 0 },
  { load: 'orders-one-pet', instances: 2, callers: 64, commitDelayMs: 0 },
]

/** For a quick run. */
export const FEW_INSTANCE_ROWS = INSTANCE_ROWS.filter(({ load, instances, callers }) =>
  load === 'updates' ? instances !== 2 && callers === 256 : load === 'orders' && instances === 1,
)

const PACE: Readonly<Record<Pace['mode'], { rounds: number; seconds: number; startWarmUpMs: number }>> = {
  full: { rounds: 2, seconds: 3, startWarmUpMs: 3_500 },
  quick: { rounds: 1, seconds: 2, startWarmUpMs: 1_000 },
}
const WARM_UP_MS = 500
/** wrk exits without its last responses, so some commits may follow a round. */
const SETTLED_WITHIN_MS = 10_000

/** The instances of one target on one database. They are paused together. */
interface InstanceGroup {
  readonly target: SharedTarget
  readonly database: string
  readonly secrets: Secrets
  readonly folder: string
  readonly instances: ServerProcess[]
}

interface CountedSample extends Sample {
  /** Responses in each whole second. */
  readonly bySecond: readonly number[]
}

/** 1, 2 and 4 instances on one PostgreSQL: what more instances add, and whether they wait for each other. */
export async function runInstances(
  session: Session,
  rows: readonly InstanceRow[],
  targets: readonly SharedTarget[],
): Promise<InstanceResult[]> {
  const { log, folder } = session
  const dataset = createDataset(PETS, join(folder, 'instances'))
  const groups: InstanceGroup[] = []
  const results = new Map<InstanceRow, InstanceResult>()
  try {
    const control = await createPostgresDatabase('control', BOTH_CORES)
    for (const target of targets) {
      log(`instances · ${target.name} · import`)
      groups.push(await createGroup(target, dataset))
    }
    const byInstances = Map.groupBy(rows, ({ instances }) => instances)
    for (const [instances, rowsOfCount] of [...byInstances].toSorted(([one], [other]) => one - other)) {
      for (const group of groups) {
        log(`instances · ${group.target.name} · start ${instances}`)
        await growTo(instances, group)
      }
      let warmUpMs = PACE[session.pace.mode].startWarmUpMs
      for (const [delayMs, rowsOfDelay] of Map.groupBy(rowsOfCount, (row) => row.commitDelayMs)) {
        const commitMs = await delayCommits(control, delayMs)
        for (const row of rowsOfDelay) {
          results.set(row, { ...(await runRow(session, row, groups, warmUpMs)), commitMs })
          warmUpMs = WARM_UP_MS
        }
      }
    }
  } finally {
    await Promise.all(groups.flatMap(({ instances }) => instances.map((instance) => instance.stop())))
  }
  return rows.flatMap((row) => results.get(row) ?? [])
}

async function createGroup(target: SharedTarget, dataset: Dataset): Promise<InstanceGroup> {
  const name = `instances_${target.name.replaceAll('-', '_')}`
  const database = await createPostgresDatabase(name, BOTH_CORES)
  const secrets = await target.prepare(dataset, database)
  await vacuum(database)
  return { target, database, secrets, folder: dataset.folder, instances: [] }
}

function growTo(count: number, group: InstanceGroup): Promise<void> {
  const { target, database, folder, instances } = group
  return onTurn(group, async () => {
    while (instances.length < count) {
      const logName = `${target.name}-${instances.length + 1}`
      instances.push(await target.startInstance(logName, database, { folder, cores: BOTH_CORES }))
    }
  })
}

async function runRow(
  { log, pace }: Session,
  row: InstanceRow,
  groups: readonly InstanceGroup[],
  warmUpMs: number,
): Promise<Omit<InstanceResult, 'commitMs'>> {
  const { rounds, seconds } = PACE[pace.mode]
  const title = titleOf(row)
  const entrants = groups.map((group) => ({ group, samples: [] as CountedSample[] }))
  for (const { group } of entrants) {
    const { target, secrets, instances } = group
    log(`${title} · ${target.name} · warm-up`)
    await onTurn(group, async () => {
      const url = instances[0]?.url ?? ''
      if (row.load !== 'updates') await checkOrders(target, { url, secrets }, ORDERED_PET)
      await runFor(warmUpMs, wrkCommand(group, row, 60, Date.now() % 1_000_000))
      await checkStock(group)
    })
  }
  for (let round = 1; round <= rounds; round++) {
    for (const { group, samples } of entrants) {
      log(`${title} · ${group.target.name} · round ${round} of ${rounds}`)
      const sample = await onTurn(group, () => measureRound(group, row, seconds, round))
      checkCounts(`${group.target.name} in "${title}"`, sample)
      samples.push(sample)
    }
  }
  return {
    name: nameOf(row),
    title,
    section: 'instances',
    pets: PETS,
    connections: row.callers,
    seconds,
    rounds,
    row,
    results: entrants.map(({ group, samples }) => {
      const { median, min } = spreadOf(samples.flatMap((sample) => sample.bySecond))
      return { ...summarise(group.target, samples), bySecond: { median, slowestToMedian: min / median } }
    }),
  }
}

function nameOf({ load, instances, callers, commitDelayMs }: InstanceRow): string {
  const suffix = load === 'updates' ? '' : `-${load}`
  return `instances-${instances}-${callers}${commitDelayMs === 0 ? '' : '-delayed'}${suffix}`
}

function titleOf({ load, instances, callers, commitDelayMs }: InstanceRow): string {
  const delay = commitDelayMs === 0 ? '' : `, commits + ${commitDelayMs} ms`
  return `${LOAD_TITLES[load]}, ${instances} instance${instances === 1 ? '' : 's'}, ${callers} callers${delay}`
}

async function measureRound(
  group: InstanceGroup,
  row: InstanceRow,
  seconds: number,
  seed: number,
): Promise<CountedSample> {
  const output = await run(wrkCommand(group, row, seconds, seed), import.meta.dir)
  await checkStock(group)
  const tenths: number[] = JSON.parse(/^TENTHS (.*)$/m.exec(output)?.[1] ?? '[]')
  const bySecond = Array.from({ length: Math.floor(tenths.length / 10) }, (_, second) =>
    sum(tenths.slice(second * 10, second * 10 + 10)),
  )
  return { ...toSample(output), bySecond }
}

/** Every instance lists the content of the database, and the reserved units match the orders. */
async function checkStock(group: InstanceGroup): Promise<void> {
  await using sql = new Bun.SQL(group.database, { max: 1 })
  const deadline = performance.now() + SETTLED_WITHIN_MS
  for (;;) {
    const problem = await findProblem(group, sql)
    if (problem === undefined) return
    if (performance.now() > deadline) throw new WrongResponse(`${group.target.name}: ${problem}`)
    await Bun.sleep(50)
  }
}

async function findProblem(
  { target, instances, secrets }: InstanceGroup,
  sql: Bun.SQL,
): Promise<string | undefined> {
  const [totals] = await sql`
    SELECT (SELECT sum(quantity) FROM orders)::bigint AS ordered,
      (SELECT sum(reserved) FROM ${sql(target.stockTable)})::bigint AS reserved,
      (SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()) AS deadlocks`
  if (totals.ordered !== null && totals.ordered !== totals.reserved) {
    return `${totals.ordered} units are ordered, but ${totals.reserved} are reserved`
  }
  if (totals.deadlocks !== '0') return `PostgreSQL resolved ${totals.deadlocks} deadlocks`
  const rows: unknown[] = await sql`
    SELECT pet_id::integer AS "petId", quantity::integer, status FROM ${sql(target.stockTable)} ORDER BY pet_id`
  const stored = JSON.stringify(rows)
  const headers = { Authorization: `Bearer ${secrets.unlimited}`, 'Accept-Encoding': 'identity' }
  for (const [index, { url }] of instances.entries()) {
    const list = await (await fetch(url + LIST_PATH, { headers, keepalive: false })).text()
    if (list !== stored)
      return `instance ${index + 1} of ${instances.length} lists other stock than the database`
  }
  return undefined
}

/** One thread per instance, with its share of the callers. */
function wrkCommand(group: InstanceGroup, row: InstanceRow, seconds: number, seed: number): string[] {
  const { load, callers } = row
  const urls = group.instances.map(({ url }) => new URL(url))
  const [first, last] = load === 'orders-one-pet' ? [ORDERED_PET, ORDERED_PET] : [1, ORDERED_PET - 1]
  const numbers = [first, last, 0, seed, callers / urls.length]
  const [path, script] =
    load === 'updates' ? [LIST_PATH, 'updates-of-instances'] : [ORDERS_PATH, 'orders-of-instances']
  return [
    ...[...pinned(BOTH_CORES), 'wrk', '-t', String(urls.length), '-c', String(callers), '-d', `${seconds}s`],
    ...['--timeout', WRK_TIMEOUT, '-s', `load/${script}.lua`, String(urls[0]), '--'],
    ...[path, group.secrets.unlimited, ...numbers.map(String)],
    ...urls.map(({ port }) => port),
  ]
}

async function onTurn<T>({ instances }: InstanceGroup, work: () => Promise<T>): Promise<T> {
  for (const instance of instances) instance.resume()
  try {
    return await work()
  } finally {
    for (const instance of instances) instance.pause()
  }
}
