import { measure } from './measure.ts'
import { compareStores, type OwnStore, startStore } from './own-stores.ts'
import { memoryOf, resetPeak } from './processes.ts'
import type { Comparison, GrowthResult } from './results.ts'
import type { Session } from './rounds.ts'
import type { RunningTarget } from './target.ts'
import { ours } from './targets/ours.ts'

const SMALL_STORE = 1_000
const READERS = 4
/** The updates beside them go on for so long. */
const READING_SECONDS = 2
const BRACE = '{'.charCodeAt(0)
const BRACKET = ']'.charCodeAt(0)
const IMPORT_SECONDS = { full: 20, quick: 3 }
const PACE = { full: { seconds: 1, rounds: 11 }, quick: { seconds: 1, rounds: 1 } }
const LIST_PACE = { full: { seconds: 1, rounds: 4 }, quick: { seconds: 1, rounds: 1 } }
const UPDATES = { kind: 'updates', onePet: false, readPercent: 0 } as const

/** Ours alone: does a larger store cost more to change, to start, to hold, to ask whether it has changed? */
export async function runGrowth(session: Session): Promise<GrowthResult> {
  const lists = await compareLists(session)
  const { pace, progress } = session
  const stores: OwnStore[] = []
  try {
    const small = await startStore(session, SMALL_STORE, UPDATES, PACE[pace.mode])
    stores.push(small)
    const large = await startStore(session, pace.largestStore, UPDATES, PACE[pace.mode])
    stores.push(large)
    progress.finished(IMPORT_SECONDS[pace.mode])
    const memoryAfterStartMb = memoryOf(large.running.pid).nowMb

    const updates = await compareStores(session, small, large)
    const memoryAfterUpdatesMb = memoryOf(large.running.pid).nowMb
    progress.tell('growth · the whole list while updates go on')
    large.running.resume()
    const listWhileUpdating = await readWhileUpdating(large)
    return {
      lists,
      smallPets: SMALL_STORE,
      largePets: pace.largestStore,
      updates,
      startSeconds: large.startSeconds,
      memoryAfterStartMb,
      memoryAfterUpdatesMb,
      listWhileUpdating,
    }
  } finally {
    await Promise.all(stores.map(({ running }) => running.stop()))
  }
}

/** A list of 10,000 that the caller has already, beside a whole list of 20. */
async function compareLists(session: Session): Promise<Comparison> {
  const stores: OwnStore[] = []
  const rounds = LIST_PACE[session.pace.mode]
  try {
    const small = await startStore(session, 20, { kind: 'list' }, rounds)
    stores.push(small)
    const large = await startStore(session, 10_000, { kind: 'unchanged-list' }, rounds)
    stores.push(large)
    return await compareStores(session, small, large)
  } finally {
    await Promise.all(stores.map(({ running }) => running.stop()))
  }
}

/** What it takes in all, about: imports and starts, the rounds, the readers. */
export function growthSeconds({ mode, firstWarmUpMs }: Session['pace']): number {
  const { seconds, rounds } = PACE[mode]
  const lists = LIST_PACE[mode]
  const turns = 2 * (firstWarmUpMs / 1000 + rounds * seconds)
  const listTurns = 2 * (firstWarmUpMs / 1000 + lists.rounds * lists.seconds)
  return IMPORT_SECONDS[mode] + turns + listTurns + READING_SECONDS
}

/** Several readers at once take the whole list, while updates arrive on 64 connections. */
async function readWhileUpdating({
  running,
  loadCase,
  facts,
}: OwnStore): Promise<GrowthResult['listWhileUpdating']> {
  resetPeak(running.pid)
  const updating = measure(ours, running, { ...loadCase, seconds: READING_SECONDS }, facts, 99)
  const started = performance.now()
  const lists = await Promise.all(Array.from({ length: READERS }, () => readList(running)))
  const seconds = (performance.now() - started) / 1000
  const { requests, refused } = await updating
  return {
    readers: READERS,
    entries: Math.min(...lists.map(({ entries }) => entries)),
    listMb: Math.max(...lists.map(({ bytes }) => bytes)) / 1024 / 1024,
    seconds,
    updates: requests - refused,
    memoryPeakMb: memoryOf(running.pid).peakMb,
  }
}

/** Counts the opening braces as they arrive, one for each entry; a list that is cut off counts for none. */
async function readList(running: RunningTarget): Promise<{ entries: number; bytes: number }> {
  const response = await fetch(running.url + ours.listPath, {
    headers: { Authorization: `Bearer ${running.secrets.unlimited}`, 'Accept-Encoding': 'identity' },
    keepalive: false,
  })
  let entries = 0
  let bytes = 0
  let last: number | undefined
  for await (const chunk of response.body ?? []) {
    for (let at = chunk.indexOf(BRACE); at !== -1; at = chunk.indexOf(BRACE, at + 1)) entries++
    bytes += chunk.length
    last = chunk.at(-1)
  }
  return { entries: last === BRACKET ? entries : 0, bytes }
}
