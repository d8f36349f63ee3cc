import { join } from 'node:path'
import { type Case, hasFairness, takesPart } from './cases.ts'
import {
  checkAdjustments,
  checkFlood,
  checkList,
  checkOrders,
  checkSample,
  checkUpdate,
  findEtag,
} from './checks.ts'
import { createDataset, type Dataset } from './dataset.ts'
import { FAIRNESS_SECONDS, measureFairness } from './fairness.ts'
import { type LoadFacts, measure, type Sample, warmUp } from './measure.ts'
import { type Pace, START_SECONDS, warmUpMsOf } from './pace.ts'
import type { Progress } from './progress.ts'
import { type CaseResult, caseResult, summarise, type TargetResult } from './results.ts'
import { checkSearches } from './search-checks.ts'
import { type RunningTarget, SEARCH_PATH, type Target } from './target.ts'

export interface Session {
  readonly folder: string
  readonly pace: Pace
  readonly progress: Progress
  readonly unknownSecret: string
}

interface Entrant {
  readonly target: Target
  readonly running: RunningTarget
  readonly facts: LoadFacts
  readonly samples: Sample[]
}

type Started = Pick<Entrant, 'target' | 'running'>

/** All cases of one store: each target is started once, and paused whenever it is not its turn. */
export async function runStore(
  session: Session,
  cases: readonly Case[],
  targets: readonly Target[],
): Promise<CaseResult[]> {
  const [first] = cases
  if (first === undefined) return []
  const { pets, section } = first
  const dataset = createDataset(pets, join(session.folder, `${section}-${pets}`), {
    isSearched: cases.some(({ load }) => load.kind === 'search'),
  })
  const started: Started[] = []
  try {
    for (const target of targets) {
      if (!cases.some((loadCase) => takesPart(target, loadCase))) continue
      session.progress.tell(`${pets} pets · ${target.name} · start`)
      const running = await target.start(dataset)
      started.push({ target, running })
      await checkList(target, running, dataset)
      running.pause()
      session.progress.finished(START_SECONDS)
    }
    const results: CaseResult[] = []
    for (const loadCase of cases) {
      results.push(await runCase(session, dataset, loadCase, started, results))
    }
    return results
  } finally {
    await Promise.all(started.map(({ running }) => running.stop()))
  }
}

async function runCase(
  session: Session,
  dataset: Dataset,
  loadCase: Case,
  started: readonly Started[],
  earlier: readonly CaseResult[],
): Promise<CaseResult> {
  const { progress, pace } = session
  const warmUpMs = warmUpMsOf(loadCase, earlier.length === 0, pace)
  const entrants: Entrant[] = []
  const unmeasured: TargetResult[] = []
  for (const { target, running } of started) {
    if (!takesPart(target, loadCase)) continue
    progress.tell(`${loadCase.title} · ${target.name} · warm-up`)
    const facts = await onTurn({ target, running }, loadCase, () =>
      prepare(session, { target, running }, dataset, loadCase, warmUpMs),
    )
    if (loadCase.load.kind === 'unchanged-list' && facts.etag === undefined) {
      unmeasured.push(...asWholeList(target, earlier))
      progress.finished(loadCase.rounds * loadCase.seconds)
    } else {
      entrants.push({ target, running, facts, samples: [] })
    }
    progress.finished(warmUpMs / 1000)
  }
  for (let round = 1; round <= loadCase.rounds; round++) {
    for (const { target, running, facts, samples } of entrants) {
      progress.tell(`${loadCase.title} · ${target.name} · round ${round} of ${loadCase.rounds}`)
      const sample = await onTurn({ target, running }, loadCase, async () => {
        await checkFlood(target, running, loadCase, facts)
        return measure(target, running, loadCase, facts, round)
      })
      checkSample(target, loadCase, facts, dataset, sample)
      samples.push(sample)
      progress.finished(loadCase.seconds)
    }
  }
  const measured: TargetResult[] = []
  for (const { target, running, samples } of entrants) {
    const result = summarise(target, samples, undefined)
    if (!hasFairness(loadCase)) measured.push(result)
    else {
      progress.tell(`${loadCase.title} · ${target.name} · caller by caller`)
      const callers = { urls: [running.url], secret: running.secrets.unlimited, petId: 1 }
      const fairness = await onTurn({ target, running }, loadCase, () =>
        measureFairness(callers, loadCase.connections),
      )
      measured.push({ ...result, fairness })
      progress.finished(FAIRNESS_SECONDS)
    }
  }
  return caseResult(loadCase, loadCase.rounds, [...measured, ...unmeasured])
}

/** Sees that the target does what the case is about, and warms it up with the very same load. */
async function prepare(
  { unknownSecret }: Session,
  { target, running }: Started,
  dataset: Dataset,
  loadCase: Case,
  warmUpMs: number,
): Promise<LoadFacts> {
  const { kind } = loadCase.load
  const etag = kind === 'unchanged-list' ? await findEtag(target, running) : undefined
  const facts: LoadFacts = { unknownSecret, ...(etag === undefined ? {} : { etag }) }
  if (kind === 'unchanged-list' && etag === undefined) return facts
  if (kind === 'updates') await checkUpdate(target, running)
  if (kind === 'adjustments') await checkAdjustments(target, running)
  if (loadCase.load.kind === 'search') await checkSearches(target, running, dataset, loadCase.load)
  if (kind === 'orders') await checkOrders(target, running)
  await checkFlood(target, running, loadCase, facts)
  await warmUp(target, running, loadCase, facts, warmUpMs)
  return facts
}

/** Who knows no 304 sends the whole list again: its figure is that of the list. */
function asWholeList(target: Target, earlier: readonly CaseResult[]): TargetResult[] {
  const list = earlier.find(({ name }) => name === 'list-10000')
  return (list?.results ?? [])
    .filter((result) => result.target === target.name)
    .map((result) => ({ ...result, note: 'answers 200 with the whole list: its figure of that case' }))
}

/**
 * wrk leaves without waiting for its last answers: what they cost must not fall into the next turn. Who waits
 * for PostgreSQL answers other things meanwhile, and has to be asked for the list, which waits its turn; or for a search
 * where that is the load, since the list of so large a store would leave work behind itself.
 */
async function settle({ section }: Target, { url, secrets }: RunningTarget, path: string): Promise<void> {
  const response = await fetch(section === 'postgres' ? url + path : url, {
    headers: { Authorization: `Bearer ${secrets.unlimited}` },
    keepalive: false,
  })
  await response.arrayBuffer()
}

async function onTurn<T>({ target, running }: Started, { load }: Case, work: () => Promise<T>): Promise<T> {
  running.resume()
  try {
    const result = await work()
    await settle(target, running, load.kind === 'search' ? `${SEARCH_PATH}?low=true` : target.listPath)
    return result
  } finally {
    running.pause()
  }
}
