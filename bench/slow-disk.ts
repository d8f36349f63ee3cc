import { join } from 'node:path'
import { throughDisk } from '../server/test/support/disk-shim.ts'
import type { Case, Load } from './cases.ts'
import { checkSample, checkUpdate } from './checks.ts'
import { createDataset } from './dataset.ts'
import { measure, type Sample, warmUp } from './measure.ts'
import type { SlowDiskResult } from './results.ts'
import type { Session } from './rounds.ts'
import { spreadOf } from './statistics.ts'
import type { RunningTarget } from './target.ts'
import { ours, prepareOurs, serveOurs } from './targets/ours.ts'

/** As network disks have it. */
const FLUSH_MS = 4
const PETS = 25
const READERS = 4
const WRITERS = 16
const PACE = { full: { seconds: 2, rounds: 5 }, quick: { seconds: 1, rounds: 1 } }

/** Ours alone, on a disk whose flushes take long: do readers wait for them? */
export async function runSlowDisk({
  folder,
  pace,
  progress,
  unknownSecret,
}: Session): Promise<SlowDiskResult> {
  const { seconds, rounds } = PACE[pace.mode]
  const dataset = createDataset(PETS, join(folder, 'slow-disk'))
  const database = `sqlite:${join(dataset.folder, 'ours.db')}`
  const secrets = await prepareOurs(dataset, database)
  const through = await throughDisk({ DISK_FLUSH_MS: String(FLUSH_MS) })
  const running: RunningTarget = {
    ...(await serveOurs('slow-disk', database, { folder: dataset.folder, through })),
    secrets,
  }
  const facts = { unknownSecret }
  const load = (connections: number, load: Load): Case => ({
    name: 'slow-disk',
    title: 'slow disk',
    section: ours.section,
    pets: PETS,
    connections,
    load,
    seconds,
    rounds,
  })
  const lists = load(READERS, { kind: 'list' })
  const updates = load(WRITERS, { kind: 'updates', onePet: false, readPercent: 0 })
  try {
    await checkUpdate(ours, running)
    for (const loadCase of [lists, updates]) await warmUp(ours, running, loadCase, facts, pace.firstWarmUpMs)
    const alone: Sample[] = []
    const beside: { lists: Sample; updates: Sample }[] = []
    for (let round = 1; round <= rounds; round++) {
      progress.tell(`slow disk · round ${round} of ${rounds}`)
      alone.push(await measure(ours, running, lists, facts, round))
      const [listed, updated] = await Promise.all([
        measure(ours, running, lists, facts, round),
        measure(ours, running, updates, facts, round),
      ])
      checkSample(ours, updates, facts, dataset, updated)
      beside.push({ lists: listed, updates: updated })
      progress.finished(2 * seconds)
    }
    return {
      flushMs: FLUSH_MS,
      readers: READERS,
      writers: WRITERS,
      listsAlone: spreadOf(alone.map(({ requestsPerSecond }) => requestsPerSecond)),
      lists: spreadOf(beside.map((sample) => sample.lists.requestsPerSecond)),
      listP50Ms: spreadOf(beside.map((sample) => sample.lists.p50Ms)),
      listP99Ms: spreadOf(beside.map((sample) => sample.lists.p99Ms)),
      updates: spreadOf(beside.map((sample) => sample.updates.requestsPerSecond)),
    }
  } finally {
    await running.stop()
  }
}

/** What it takes in all, about. */
export function slowDiskSeconds({ mode, firstWarmUpMs }: Session['pace']): number {
  const { seconds, rounds } = PACE[mode]
  return 2 * (firstWarmUpMs / 1000) + 2 * seconds * rounds
}
