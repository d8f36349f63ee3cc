import { join } from 'node:path'
import { type Case, FIRST_WARM_UP_MS } from './cases.ts'
import { checkList, checkLoad, checkSample } from './checks.ts'
import { createDataset, type Dataset } from './dataset.ts'
import { type Entrant, measure, type Sample, warmUp } from './measure.ts'
import { delayCommits } from './postgres.ts'
import type { CaseResult } from './report.ts'
import { firstUrl, LIST_PATH, type RunningTarget, type Target } from './target.ts'

export interface Session {
  readonly folder: string
  /** One short round of each case. It shows that everything works; its figures prove nothing. */
  readonly quick: boolean
  log(step: string): void
}

interface Started {
  readonly target: Target
  readonly running: RunningTarget
}

/** Runs all cases of one store. Each target is started once, and paused while another one is measured. */
export async function runStore(
  session: Session,
  cases: readonly Case[],
  targets: readonly Target[],
): Promise<CaseResult[]> {
  const [first] = cases
  if (first === undefined) return []
  const { store } = first
  const { database, pets, instances } = store
  const dataset = createDataset(pets, join(session.folder, `${database}-${pets}-${instances}-${store.cores}`))
  const started: Started[] = []
  try {
    for (const target of targets) {
      if (!cases.some((loadCase) => takesPart(target, loadCase))) continue
      session.log(`${pets} pets · ${target.name} · start`)
      const running = await target.start(dataset, store)
      started.push({ target, running })
      await checkList(target, running, dataset)
      pause(running)
    }
    const results: CaseResult[] = []
    for (const loadCase of cases) {
      results.push(await runCase(session, loadCase, dataset, started, results.length === 0))
    }
    return results
  } finally {
    await Promise.all(started.flatMap(({ running }) => running.instances.map((instance) => instance.stop())))
  }
}

export function takesPart(target: Target, { load, store }: Case): boolean {
  return target.database === store.database && target.loads.includes(load.kind)
}

async function runCase(
  { quick, log }: Session,
  loadCase: Case,
  dataset: Dataset,
  started: readonly Started[],
  isFirst: boolean,
): Promise<CaseResult> {
  const { title, store, commitDelayMs } = loadCase
  const warmUpMs = isFirst ? Math.max(FIRST_WARM_UP_MS, loadCase.warmUpMs) : loadCase.warmUpMs
  const rounds = quick ? 1 : loadCase.rounds
  const seconds = quick ? 1 : loadCase.seconds
  if (store.database === 'postgres') await delayCommits(commitDelayMs)
  const entrants = started
    .filter(({ target }) => takesPart(target, loadCase))
    .map((each) => ({ ...each, dataset, plan: loadCase, samples: [] as Sample[] }))
  for (const entrant of entrants) {
    log(`${title} · ${entrant.target.name} · warm-up`)
    await onTurn(entrant, async () => {
      await checkLoad(entrant)
      await warmUp(entrant, quick ? 1_000 : warmUpMs)
    })
  }
  for (let round = 1; round <= rounds; round++) {
    for (const entrant of entrants) {
      log(`${title} · ${entrant.target.name} · round ${round} of ${rounds}`)
      const sample = await onTurn(entrant, () => measure(entrant, seconds, round))
      checkSample(entrant, sample)
      entrant.samples.push(sample)
    }
  }
  return { loadCase, results: entrants.map(({ target, samples }) => ({ target, samples })) }
}

async function onTurn<T>(entrant: Entrant, work: () => Promise<T>): Promise<T> {
  for (const instance of entrant.running.instances) instance.resume()
  try {
    const result = await work()
    await settle(entrant)
    return result
  } finally {
    pause(entrant.running)
  }
}

function pause({ instances }: RunningTarget): void {
  for (const instance of instances) instance.pause()
}

/**
 * wrk exits without its last responses, and their cost must not fall into the next turn. An embedded store answers any
 * request after them; with PostgreSQL it must be a request that waits for the database.
 */
async function settle({ target, running }: Entrant): Promise<void> {
  const url = firstUrl(running)
  const response = await fetch(target.database === 'postgres' ? url + LIST_PATH : url, {
    headers: { Authorization: `Bearer ${running.secrets.unlimited}` },
    keepalive: false,
  })
  await response.arrayBuffer()
}
