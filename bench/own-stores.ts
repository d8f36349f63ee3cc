import { join } from 'node:path'
import type { Case, Load } from './cases.ts'
import { checkSample, checkUpdate, findEtag } from './checks.ts'
import { createDataset, type Dataset } from './dataset.ts'
import { type Loaded, measureInTurns, warmUp } from './measure.ts'
import type { Comparison } from './results.ts'
import type { Session } from './rounds.ts'
import { spreadOf, sum } from './statistics.ts'
import type { RunningTarget } from './target.ts'
import { ours } from './targets/ours.ts'

/** One of several stores that ours serves in one comparison, each from a process of its own, with its load. */
export interface OwnStore extends Loaded {
  readonly dataset: Dataset
  readonly startSeconds: number
}

/** Paused, as everybody is until his turn. */
export async function startStore(
  { folder, progress, unknownSecret }: Session,
  pets: number,
  load: Load,
  rounds: Pick<Case, 'seconds' | 'rounds'>,
): Promise<OwnStore> {
  progress.tell(`growth · import and start with ${pets} pets`)
  const dataset = createDataset(pets, join(folder, `growth-${pets}`))
  const running = await ours.start(dataset)
  const startSeconds = (running.readyMs + (await firstUpdateMs(running))) / 1000
  const etag = load.kind === 'unchanged-list' ? await findEtag(ours, running) : undefined
  running.pause()
  const loadCase: Case = {
    name: 'growth',
    title: `${load.kind} at ${pets} pets`,
    section: ours.section,
    pets,
    connections: 64,
    ...rounds,
    load,
  }
  const facts = { unknownSecret, ...(etag === undefined ? {} : { etag }) }
  return { target: ours, dataset, running, loadCase, facts, startSeconds }
}

/** Listening is not enough: it is ready when an update is on disk. */
async function firstUpdateMs(running: RunningTarget): Promise<number> {
  const sent = performance.now()
  await checkUpdate(ours, running)
  return performance.now() - sent
}

/** Requests a second of two stores, in turns. */
export async function compareStores(
  { pace, progress }: Session,
  first: OwnStore,
  second: OwnStore,
): Promise<Comparison> {
  for (const { running, loadCase, facts } of [first, second]) {
    progress.tell(`growth · ${loadCase.title} · warm-up`)
    running.resume()
    await warmUp(ours, running, loadCase, facts, pace.firstWarmUpMs)
    running.pause()
    progress.finished(pace.firstWarmUpMs / 1000)
  }
  const rates: [number, number][] = []
  const { rounds } = first.loadCase
  for (let round = 1; round <= rounds; round++) {
    progress.tell(`growth · ${first.loadCase.title}, ${second.loadCase.title} · round ${round} of ${rounds}`)
    const [one, other] = await measureInTurns(first, second, round)
    checkSample(ours, first.loadCase, first.facts, first.dataset, one)
    checkSample(ours, second.loadCase, second.facts, second.dataset, other)
    rates.push([one.requestsPerSecond, other.requestsPerSecond])
    progress.finished(first.loadCase.seconds + second.loadCase.seconds)
  }
  const [ofFirst, ofSecond] = [rates.map(([rate]) => rate), rates.map(([, rate]) => rate)]
  return {
    first: spreadOf(ofFirst),
    second: spreadOf(ofSecond),
    ratio: sum(ofSecond) / sum(ofFirst),
    ratios: spreadOf(rates.map(([one, other]) => other / one)),
  }
}
