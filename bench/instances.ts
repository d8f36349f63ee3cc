import { join } from 'node:path'
import { checkCounts, checkOrders } from './checks.ts'
import { createDataset } from './dataset.ts'
import { FAIRNESS_SECONDS, measureFairness } from './fairness.ts'
import { checkStock, LAST_LOADED_PET, ORDERED_PET, Witnesses } from './instance-checks.ts'
import { InstanceGroup } from './instance-group.ts'
import {
  INSTANCE_PACE,
  INSTANCE_PETS,
  type InstanceRow,
  inOrderOfReport,
  nameOf,
  titleOf,
} from './instance-rows.ts'
import { endAfter, type Sample, toSample } from './measure.ts'
import { createPostgresDatabase, delayCommits } from './postgres.ts'
import { BOTH_CORES, pinned, run } from './processes.ts'
import { type InstanceResult, secondsOf, summarise, type TargetResult } from './results.ts'
import type { Session } from './rounds.ts'
import { ORDERS_PATH, type SharedTarget } from './target.ts'

interface CountedSample extends Sample {
  /** Requests that were answered in each whole second. */
  readonly bySecond: readonly number[]
}

/** 1, 2 and 4 instances on one PostgreSQL: what more of them bring, and whether one waits for another. */
export async function runInstances(
  session: Session,
  rows: readonly InstanceRow[],
  targets: readonly SharedTarget[],
): Promise<InstanceResult[]> {
  const { progress, pace, folder } = session
  const { startSeconds } = INSTANCE_PACE[pace.mode]
  const dataset = createDataset(INSTANCE_PETS, join(folder, 'instances'))
  const groups: InstanceGroup[] = []
  const results: InstanceResult[] = []
  try {
    const control = await createPostgresDatabase('control', BOTH_CORES)
    for (const target of targets) {
      progress.tell(`instances · ${target.name} · import`)
      groups.push(await InstanceGroup.prepare(target, dataset))
    }
    for (const [instances, ofCount] of Map.groupBy(rows, (row) => row.instances)) {
      for (const group of groups) {
        progress.tell(`instances · ${group.target.name} · start ${instances}`)
        await group.growTo(instances)
        progress.finished(startSeconds)
      }
      for (const [delayMs, ofDelay] of Map.groupBy(ofCount, (row) => row.commitDelayMs)) {
        const commitMs = await delayCommits(control, delayMs)
        for (const row of ofDelay) {
          const isFirst = row === ofCount[0]
          results.push({ ...(await runRow(session, row, groups, isFirst)), commitMs })
        }
      }
    }
  } finally {
    await Promise.all(groups.map((group) => group.stop()))
  }
  return results.toSorted((one, other) => inOrderOfReport(one.row, other.row))
}

async function runRow(
  { progress, pace }: Session,
  row: InstanceRow,
  groups: readonly InstanceGroup[],
  isFirst: boolean,
): Promise<Omit<InstanceResult, 'commitMs'>> {
  const { rounds, seconds, firstWarmUpMs, warmUpMs } = INSTANCE_PACE[pace.mode]
  const title = titleOf(row)
  const milliseconds = isFirst ? firstWarmUpMs : warmUpMs
  const entrants = groups.map((group) => ({ group, samples: [] as CountedSample[] }))
  for (const { group } of entrants) {
    progress.tell(`${title} · ${group.target.name} · warm-up`)
    await onTurn(group, async () => {
      if (row.load !== 'updates') await checkOrders(group.target, group.first, ORDERED_PET)
      await endAfter(milliseconds, wrkCommand(group, row, 60, Date.now() % 1_000_000))
      await checkStock(group, new Map())
    })
    progress.finished(milliseconds / 1000)
  }
  for (let round = 1; round <= rounds; round++) {
    for (const { group, samples } of entrants) {
      progress.tell(`${title} · ${group.target.name} · round ${round} of ${rounds}`)
      const sample = await onTurn(group, () => measureRound(group, row, seconds, round))
      checkCounts(`${group.target.name} in "${title}"`, sample)
      samples.push(sample)
      progress.finished(seconds)
    }
  }
  const results: TargetResult[] = []
  for (const { group, samples } of entrants) {
    const result = summarise(group.target, samples, undefined)
    const bySecond = secondsOf(samples.flatMap((sample) => sample.bySecond))
    if (row.load !== 'orders-one-pet') results.push({ ...result, bySecond })
    else {
      progress.tell(`${title} · ${group.target.name} · caller by caller`)
      const callers = { urls: group.urls, secret: group.secrets.unlimited, petId: ORDERED_PET }
      const fairness = await onTurn(group, () => measureFairness(callers, row.callers))
      results.push({ ...result, bySecond, fairness })
      progress.finished(FAIRNESS_SECONDS)
    }
  }
  return {
    name: nameOf(row),
    title,
    section: 'instances',
    pets: INSTANCE_PETS,
    connections: row.callers,
    seconds,
    rounds,
    row,
    results,
  }
}

async function measureRound(
  group: InstanceGroup,
  row: InstanceRow,
  seconds: number,
  seed: number,
): Promise<CountedSample> {
  const witnesses = new Witnesses(group)
  const output = await run(wrkCommand(group, row, seconds, seed), import.meta.dir)
  await checkStock(group, await witnesses.end())
  const tenths: number[] = JSON.parse(/^TENTHS (.*)$/m.exec(output)?.[1] ?? '[]')
  const bySecond = Array.from({ length: Math.floor(tenths.length / 10) }, (_, second) =>
    tenths.slice(second * 10, second * 10 + 10).reduce((total, count) => total + count, 0),
  )
  return { ...toSample(output), bySecond }
}

/** A thread for each instance, with as many of the callers each. */
function wrkCommand(
  { target, secrets, urls }: InstanceGroup,
  { load, instances, callers }: InstanceRow,
  seconds: number,
  seed: number,
): string[] {
  const [first, last] = load === 'orders-one-pet' ? [ORDERED_PET, ORDERED_PET] : [1, LAST_LOADED_PET]
  const numbers = [first, last, 0, seed, callers / instances]
  const path = load === 'updates' ? target.listPath : ORDERS_PATH
  const script = `load/${load === 'updates' ? 'updates' : 'orders'}-of-instances.lua`
  return [
    ...[...pinned(BOTH_CORES), 'wrk', '-t', String(instances), '-c', String(callers), '-d', `${seconds}s`],
    ...['--timeout', '60s', '-s', script, `${urls[0]}${path}`, '--'],
    ...[path, secrets.unlimited, ...numbers.map(String)],
    ...urls.map((url) => new URL(url).port),
  ]
}

async function onTurn<T>(group: InstanceGroup, work: () => Promise<T>): Promise<T> {
  group.resume()
  try {
    return await work()
  } finally {
    group.pause()
  }
}
