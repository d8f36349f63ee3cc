import { join } from 'node:path'
import { checkCounts } from './checks.ts'
import { createDataset } from './dataset.ts'
import { checkStock, LAST_LOADED_PET, Witnesses } from './instance-checks.ts'
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
import { type InstanceResult, secondsOf, summarise } from './results.ts'
import type { Session } from './rounds.ts'
import type { SharedTarget } from './target.ts'

interface CountedSample extends Sample {
  /** Updates that were answered in each whole second. */
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
  return {
    name: nameOf(row),
    title,
    section: 'instances',
    pets: INSTANCE_PETS,
    connections: row.callers,
    seconds,
    rounds,
    row,
    results: entrants.map(({ group, samples }) => ({
      ...summarise(group.target, samples, undefined),
      bySecond: secondsOf(samples.flatMap(({ bySecond }) => bySecond)),
    })),
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
  { instances, callers }: InstanceRow,
  seconds: number,
  seed: number,
): string[] {
  const numbers = [1, LAST_LOADED_PET, 0, seed, callers / instances]
  return [
    ...[...pinned(BOTH_CORES), 'wrk', '-t', String(instances), '-c', String(callers), '-d', `${seconds}s`],
    ...['--timeout', '60s', '-s', 'load/updates-of-instances.lua', `${urls[0]}${target.listPath}`, '--'],
    ...[target.listPath, secrets.unlimited, ...numbers.map(String)],
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
