import { join } from 'node:path'
import type { Case, Load } from './cases.ts'
import { checkSample, checkUpdate, findEtag } from './checks.ts'
import { createDataset, type Dataset } from './dataset.ts'
import { type LoadFacts, measure, warmUp } from './measure.ts'
import type { Session } from './rounds.ts'
import { type Spread, spreadOf } from './statistics.ts'
import type { RunningTarget } from './target.ts'
import { ours } from './targets/ours.ts'

/** One of several stores that ours serves in one comparison, each from a process of its own, with its load. */
export interface OwnStore {
  readonly dataset: Dataset
  readonly running: RunningTarget
  readonly loadCase: Case
  readonly facts: LoadFacts
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
  return { dataset, running, loadCase, facts, startSeconds }
}

/** Listening is not enough: it is ready when an update is on disk. */
async function firstUpdateMs(running: RunningTarget): Promise<number> {
  const sent = performance.now()
  await checkUpdate(ours, running)
  return performance.now() - sent
}

/** Requests a second of each store, whose rounds alternate: a slow minute of the machine hits all of them. */
export async function alternate<Stores extends readonly OwnStore[]>(
  { pace, progress }: Session,
  stores: Stores,
): Promise<{ [Place in keyof Stores]: Spread }> {
  const rates = stores.map((): number[] => [])
  const rounds = Math.max(...stores.map(({ loadCase }) => loadCase.rounds))
  for (let round = 0; round <= rounds; round++) {
    for (const [place, { dataset, running, loadCase, facts }] of stores.entries()) {
      progress.tell(`growth · ${loadCase.title} · ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}`)
      running.resume()
      if (round === 0) {
        await warmUp(ours, running, loadCase, facts, pace.firstWarmUpMs)
      } else {
        const sample = await measure(ours, running, loadCase, facts, round)
        checkSample(ours, loadCase, facts, dataset, sample)
        rates[place]?.push(sample.requestsPerSecond)
      }
      progress.finished(round === 0 ? pace.firstWarmUpMs / 1000 : loadCase.seconds)
      running.pause()
    }
  }
  return rates.map(spreadOf) as { [Place in keyof Stores]: Spread }
}
