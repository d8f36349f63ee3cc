import { randomFrom, type TortureTask, untilOver } from '../../../scripts/torture-task.ts'
import { serve } from '../../cli/running-petstore.ts'
import { addKey, PET_IDS, stockUp } from '../../postgres/shop.ts'
import { createDatabase, type TestDatabase } from '../../support/postgres-databases.ts'
import { type KillCounts, type KillOptions, keyedLoad, killFigures, loadViolations } from './kills.ts'
import { checkThroughApi, checkWithCommands } from './shown-stock.ts'
import { UpdateLedger } from './update-ledger.ts'
import { SCANT, UpdateLoad } from './update-load.ts'

/** What the remaining instance did until the other one was back. */
export interface PairReport extends KillCounts {
  readonly acknowledgedAlone: number
}

const IDS = PET_IDS.map(BigInt)
const WRITERS = 8
const MAX_UPDATES = 150
/** Updates that the remaining instance must acknowledge after each kill. */
const ALONE = 20
const FAREWELL_MS = 60_000
const TELL_EVERY = 10

/** Repeatedly kills one of two instances under load, at random; the other one must continue. */
export async function killOneOfTwo({ seed, isOver, say }: KillOptions): Promise<PairReport> {
  const random = randomFrom(seed)
  const database = await createDatabase()
  const key = await stockUp(database.url)
  const ledger = new UpdateLedger(IDS)
  const scantKey = await addKey(database.url, SCANT)
  const load = new UpdateLoad({ ledger, petIds: IDS, key, scantKey, random, writers: WRITERS })
  const keyed = keyedLoad(ledger, key, random)
  const violations: string[] = []
  let kills = 0
  let acknowledgedAlone = 0
  let started = 0
  const start = () => startNamed(database.url, `instance-${++started}`)
  const pair = await Promise.all([start(), start()])
  try {
    while (!isOver(kills)) {
      let isRoundOver = false
      const addresses = pair.map(({ address }) => address)
      const loading = Promise.all([
        load.run(addresses, () => isRoundOver),
        keyed.run(addresses, () => isRoundOver),
      ])
      await ledger.untilAcknowledged(1 + random() * MAX_UPDATES)
      const victim = random() < 0.5 ? 0 : 1
      const { program, name } = pair[victim]
      program.kill('SIGKILL')
      await program.exited
      kills++
      const before = ledger.counts.acknowledged
      const [another] = await Promise.all([start(), ledger.untilAcknowledged(ALONE)])
      acknowledgedAlone += ledger.counts.acknowledged - before
      pair[victim] = another
      isRoundOver = true
      await loading
      await keyed.settle(pair.map(({ address }) => address))
      await untilDisconnected(database, name)
      for (const { address } of pair)
        violations.push(...(await checkThroughApi(ledger, IDS, { address, key })))
      ledger.settle()
      if (kills % TELL_EVERY === 0) say?.(`${kills} kills, ${ledger.counts.acknowledged} acknowledged`)
    }
    violations.push(...(await checkWithCommands(ledger, IDS.slice(0, 2), database.url)))
  } finally {
    for (const { program } of pair) program.kill('SIGKILL')
    await database.drop()
  }
  return {
    kills,
    acknowledgedAlone,
    load,
    keyed,
    ledger,
    violations: [...violations, ...loadViolations(load, keyed)],
  }
}

export async function startNamed(databaseUrl: string, name: string) {
  const url = new URL(databaseUrl)
  url.searchParams.set('application_name', name)
  const env = { DATABASE_URL: url.href, LOG_REQUESTS: 'none' }
  return { name, ...(await serve([], { cwd: '/', env })) }
}

/** Waits until PostgreSQL has finished everything that a dead instance sent; nothing can come of it afterwards. */
export async function untilDisconnected(database: TestDatabase, name: string): Promise<void> {
  const deadline = performance.now() + FAREWELL_MS
  for (;;) {
    const left = await database.run(`SELECT 1 FROM pg_stat_activity WHERE application_name = '${name}'`)
    if (left.length === 0) return
    if (performance.now() > deadline) throw new Error(`PostgreSQL still serves ${name}, which was killed`)
    await Bun.sleep(5)
  }
}

const LEAST_KILLS = 50

export const killsPostgresTask: TortureTask = {
  name: 'kills-postgres',
  promise:
    'If one of two instances is killed, the other continues, and nothing acknowledged is lost on either.',
  share: 2,
  run: async (options) => {
    const isOver = untilOver(options, LEAST_KILLS)
    const report = await killOneOfTwo({ seed: options.seed, isOver, say: options.say })
    return {
      figures: [
        ...killFigures(report),
        ['of them acknowledged while one instance was dead', String(report.acknowledgedAlone)],
        ['longest answer', `${Math.round(report.load.longestMs)} ms`],
      ],
      violations: report.violations,
    }
  },
}
