import { join } from 'node:path'
import { throughDisk } from '../server/test/support/disk-shim.ts'
import { type Load, UPDATES } from './cases.ts'
import { checkSample, checkUpdate } from './checks.ts'
import { createDataset } from './dataset.ts'
import { type Entrant, measure, type Sample, warmUp } from './measure.ts'
import { type SlowDiskResult, spreadOf } from './results.ts'
import type { Session } from './rounds.ts'
import { ours, prepareOurs, serveOurs } from './targets/ours.ts'

/** Typical of network disks. */
const FLUSH_MS = 4
const PETS = 25
const READERS = 4
const WRITERS = 16
const PACE = { full: { seconds: 2, rounds: 5 }, quick: { seconds: 1, rounds: 1 } }

/** Ours alone, on a disk with slow flushes: whether readers wait for the flushes of writers. */
export async function runSlowDisk({ folder, pace, log }: Session): Promise<SlowDiskResult> {
  const { seconds, rounds } = PACE[pace.mode]
  const dataset = createDataset(PETS, join(folder, 'slow-disk'))
  const database = `sqlite:${join(dataset.folder, 'ours.db')}`
  const secrets = await prepareOurs(dataset, database)
  const launcher = await throughDisk({ DISK_FLUSH_MS: String(FLUSH_MS) })
  const server = await serveOurs('slow-disk', database, { folder: dataset.folder, launcher })
  const entrant = (connections: number, load: Load): Entrant => ({
    target: ours,
    running: { ...server, secrets },
    dataset,
    plan: { title: 'slow disk', connections, load, seconds, rounds },
  })
  const readers = entrant(READERS, { kind: 'list' })
  const writers = entrant(WRITERS, UPDATES)
  try {
    await checkUpdate(ours, readers.running)
    for (const each of [readers, writers]) await warmUp(each, pace.firstWarmUpMs)
    const alone: Sample[] = []
    const lists: Sample[] = []
    const updates: Sample[] = []
    for (let round = 1; round <= rounds; round++) {
      log(`slow disk · round ${round} of ${rounds}`)
      alone.push(await measure(readers, round))
      const [listed, updated] = await Promise.all([measure(readers, round), measure(writers, round)])
      checkSample(writers, updated)
      lists.push(listed)
      updates.push(updated)
    }
    return {
      flushMs: FLUSH_MS,
      readers: READERS,
      writers: WRITERS,
      listsAlone: spreadOf(alone.map(({ requestsPerSecond }) => requestsPerSecond)),
      lists: spreadOf(lists.map(({ requestsPerSecond }) => requestsPerSecond)),
      listP50Ms: spreadOf(lists.map(({ p50Ms }) => p50Ms)),
      listP99Ms: spreadOf(lists.map(({ p99Ms }) => p99Ms)),
      updates: spreadOf(updates.map(({ requestsPerSecond }) => requestsPerSecond)),
    }
  } finally {
    await server.stop()
  }
}
