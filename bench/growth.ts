import { join } from 'node:path'
import type { Case } from './cases.ts'
import { checkSample, WrongAnswer } from './checks.ts'
import { createDataset, type Dataset } from './dataset.ts'
import { measure, warmUp } from './measure.ts'
import { memoryOf, resetPeak } from './processes.ts'
import type { GrowthResult } from './results.ts'
import type { Session } from './rounds.ts'
import { spreadOf } from './statistics.ts'
import type { RunningTarget } from './target.ts'
import { ours } from './targets/ours.ts'

const SMALL_STORE = 1_000
const READERS = 4
const BRACE = '{'.charCodeAt(0)
const BRACKET = ']'.charCodeAt(0)
const IMPORT_SECONDS = { full: 20, quick: 3 }
const PACE = { full: { seconds: 2, rounds: 3 }, quick: { seconds: 1, rounds: 1 } }

interface Store {
  readonly dataset: Dataset
  readonly running: RunningTarget
  readonly loadCase: Case
  readonly startSeconds: number
}

/** Ours alone: does a store a thousand times as large cost more to change, to start, to hold? */
export async function runGrowth(session: Session): Promise<GrowthResult> {
  const { pace, progress } = session
  const stores: Store[] = []
  try {
    const small = await startStore(session, SMALL_STORE)
    stores.push(small)
    small.running.pause()
    const large = await startStore(session, pace.largestStore)
    stores.push(large)
    progress.finished(IMPORT_SECONDS[pace.mode])
    const memoryAfterStartMb = memoryOf(large.running.pid).nowMb
    large.running.pause()

    const rates = await alternate(session, stores)
    const memoryAfterUpdatesMb = memoryOf(large.running.pid).nowMb
    progress.tell('growth · the whole list while updates go on')
    large.running.resume()
    const listWhileUpdating = await readWhileUpdating(session, large)
    return {
      smallPets: SMALL_STORE,
      largePets: pace.largestStore,
      updatesSmall: spreadOf(rates.get(small) ?? []),
      updatesLarge: spreadOf(rates.get(large) ?? []),
      startSeconds: large.startSeconds,
      memoryAfterStartMb,
      memoryAfterUpdatesMb,
      listWhileUpdating,
    }
  } finally {
    await Promise.all(stores.map(({ running }) => running.stop()))
  }
}

/** What it takes in all, about: imports and starts, the rounds, the readers. */
export function growthSeconds({ mode, firstWarmUpMs }: Session['pace']): number {
  const { seconds, rounds } = PACE[mode]
  return IMPORT_SECONDS[mode] + 2 * (firstWarmUpMs / 1000 + rounds * seconds) + seconds
}

async function startStore({ folder, pace, progress }: Session, pets: number): Promise<Store> {
  progress.tell(`growth · import and start with ${pets} pets`)
  const dataset = createDataset(pets, join(folder, `growth-${pets}`))
  const running = await ours.start(dataset)
  const startSeconds = (running.readyMs + (await firstUpdateMs(running))) / 1000
  const loadCase: Case = {
    name: 'growth',
    title: `updates at ${pets} pets`,
    section: ours.section,
    pets,
    connections: 64,
    ...PACE[pace.mode],
    load: { kind: 'updates', onePet: false, readPercent: 0 },
  }
  return { dataset, running, loadCase, startSeconds }
}

/** Listening is not enough: it is ready when an update is on disk. */
async function firstUpdateMs(running: RunningTarget): Promise<number> {
  const sent = performance.now()
  const response = await fetch(`${running.url}${ours.listPath}/1`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${running.secrets.unlimited}`, 'Content-Type': 'application/json' },
    body: '{"quantity":1234}',
    keepalive: false,
  })
  await response.arrayBuffer()
  if (response.status !== 200) throw new WrongAnswer(`ours answers the first update with ${response.status}`)
  return performance.now() - sent
}

async function alternate({ unknownSecret, pace, progress }: Session, stores: readonly Store[]) {
  const rates = new Map<Store, number[]>(stores.map((store) => [store, []]))
  const rounds = Math.max(...stores.map(({ loadCase }) => loadCase.rounds))
  for (let round = 0; round <= rounds; round++) {
    for (const store of stores) {
      const { dataset, running, loadCase } = store
      progress.tell(`growth · ${loadCase.title} · ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}`)
      running.resume()
      if (round === 0) {
        await warmUp(ours, running, loadCase, { unknownSecret }, pace.firstWarmUpMs)
      } else {
        const sample = await measure(ours, running, loadCase, { unknownSecret }, round)
        checkSample(ours, loadCase, { unknownSecret }, dataset, sample)
        rates.get(store)?.push(sample.requestsPerSecond)
      }
      progress.finished(round === 0 ? pace.firstWarmUpMs / 1000 : loadCase.seconds)
      running.pause()
    }
  }
  return rates
}

/** Several readers at once take the whole list, while updates arrive on 64 connections. */
async function readWhileUpdating(
  { unknownSecret }: Session,
  { running, loadCase }: Store,
): Promise<GrowthResult['listWhileUpdating']> {
  resetPeak(running.pid)
  const updating = measure(ours, running, loadCase, { unknownSecret }, 99)
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
