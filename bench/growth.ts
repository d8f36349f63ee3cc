import { join } from 'node:path'
import { UPDATES } from './cases.ts'
import { checkSample, checkUpdate } from './checks.ts'
import { createDataset } from './dataset.ts'
import { type Entrant, measureInTurns, warmUp } from './measure.ts'
import { memoryMbOf } from './processes.ts'
import { type GrowthResult, spreadOf, sum } from './results.ts'
import type { Session } from './rounds.ts'
import { ours } from './targets/ours.ts'

const SMALL_STORE = 1_000
const ROUNDS = { full: 11, quick: 1 }

interface OwnStore extends Entrant {
  readonly startSeconds: number
}

/** Ours alone: what a larger store costs in updates, start time and memory. */
export async function runGrowth(session: Session): Promise<GrowthResult> {
  const small = await startStore(session, SMALL_STORE)
  const large = await startStore(session, session.pace.largestStore)
  try {
    const memoryAfterStartMb = memoryMbOf(large.running.pid)
    const updates = await compareUpdates(session, small, large)
    return {
      smallPets: small.dataset.pets,
      largePets: large.dataset.pets,
      updates,
      startSeconds: large.startSeconds,
      memoryAfterStartMb,
      memoryAfterUpdatesMb: memoryMbOf(large.running.pid),
    }
  } finally {
    await Promise.all([small.running.stop(), large.running.stop()])
  }
}

async function startStore({ folder, pace, log }: Session, pets: number): Promise<OwnStore> {
  log(`growth · import and start with ${pets} pets`)
  const dataset = createDataset(pets, join(folder, `growth-${pets}`))
  const running = await ours.start(dataset)
  const sent = performance.now()
  await checkUpdate(ours, running)
  const startSeconds = (running.readyMs + performance.now() - sent) / 1000
  running.pause()
  const rounds = ROUNDS[pace.mode]
  const plan = { title: `updates at ${pets} pets`, connections: 64, seconds: 1, rounds, load: UPDATES }
  return { target: ours, dataset, running, plan, startSeconds }
}

async function compareUpdates(
  { pace, log }: Session,
  small: Entrant,
  large: Entrant,
): Promise<GrowthResult['updates']> {
  for (const entrant of [small, large]) {
    log(`growth · ${entrant.plan.title} · warm-up`)
    entrant.running.resume()
    await warmUp(entrant, pace.firstWarmUpMs)
    entrant.running.pause()
  }
  const rates: { small: number; large: number }[] = []
  const { rounds } = small.plan
  for (let round = 1; round <= rounds; round++) {
    log(`growth · updates in turns · round ${round} of ${rounds}`)
    const [ofSmall, ofLarge] = await measureInTurns(small, large, round)
    checkSample(small, ofSmall)
    checkSample(large, ofLarge)
    rates.push({ small: ofSmall.requestsPerSecond, large: ofLarge.requestsPerSecond })
  }
  const [smallRates, largeRates] = [rates.map((rate) => rate.small), rates.map((rate) => rate.large)]
  return {
    small: spreadOf(smallRates),
    large: spreadOf(largeRates),
    ratio: sum(largeRates) / sum(smallRates),
    ratios: spreadOf(rates.map((rate) => rate.large / rate.small)),
  }
}
