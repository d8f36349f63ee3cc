import { join } from 'node:path'
import { type Case, type Pace, takesPart } from './cases.ts'
import { checkList, checkLoad, checkSample } from './checks.ts'
import { createDataset, type Dataset } from './dataset.ts'
import { type Entrant, measure, type Sample, warmUp } from './measure.ts'
import { type CaseResult, caseResult, summarise } from './results.ts'
import { LIST_PATH, SEARCH_PATH, type Target } from './target.ts'

export interface Session {
  readonly folder: string
  readonly pace: Pace
  log(step: string): void
}

type Started = Pick<Entrant, 'target' | 'running'>

/** Runs all cases of one store. Each target is started once, and paused while another one is measured. */
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
      session.log(`${pets} pets · ${target.name} · start`)
      const running = await target.start(dataset)
      started.push({ target, running })
      await checkList(target, running, dataset)
      running.pause()
    }
    const results: CaseResult[] = []
    for (const loadCase of cases) {
      results.push(await runCase(session, loadCase, dataset, started, results.length === 0))
    }
    return results
  } finally {
    await Promise.all(started.map(({ running }) => running.stop()))
  }
}

async function runCase(
  { pace, log }: Session,
  loadCase: Case,
  dataset: Dataset,
  started: readonly Started[],
  isFirst: boolean,
): Promise<CaseResult> {
  const { title, rounds } = loadCase
  const usualWarmUpMs = isFirst ? pace.firstWarmUpMs : pace.warmUpMs
  const warmUpMs = pace.mode === 'full' ? (loadCase.warmUpMs ?? usualWarmUpMs) : usualWarmUpMs
  const entrants = started
    .filter(({ target }) => takesPart(target, loadCase))
    .map((each) => ({ ...each, dataset, plan: loadCase, samples: [] as Sample[] }))
  for (const entrant of entrants) {
    log(`${title} · ${entrant.target.name} · warm-up`)
    await onTurn(entrant, async () => {
      await checkLoad(entrant)
      await warmUp(entrant, warmUpMs)
    })
  }
  for (let round = 1; round <= rounds; round++) {
    for (const entrant of entrants) {
      log(`${title} · ${entrant.target.name} · round ${round} of ${rounds}`)
      const sample = await onTurn(entrant, () => measure(entrant, round))
      checkSample(entrant, sample)
      entrant.samples.push(sample)
    }
  }
  return caseResult(
    loadCase,
    entrants.map(({ target, samples }) => summarise(target, samples)),
  )
}

async function onTurn<T>(entrant: Entrant, work: () => Promise<T>): Promise<T> {
  entrant.running.resume()
  try {
    const result = await work()
    await settle(entrant)
    return result
  } finally {
    entrant.running.pause()
  }
}

/**
 * wrk exits without its last responses, and their cost must not fall into the next turn. An embedded store answers any
 * request after them; with PostgreSQL it must be a request that waits for the database.
 */
async function settle({ target, running, plan }: Entrant): Promise<void> {
  const { url, secrets } = running
  const path = plan.load.kind === 'search' ? `${SEARCH_PATH}?low=true` : LIST_PATH
  const response = await fetch(target.section === 'postgres' ? url + path : url, {
    headers: { Authorization: `Bearer ${secrets.unlimited}` },
    keepalive: false,
  })
  await response.arrayBuffer()
}
