import { statSync } from 'node:fs'
import { join } from 'node:path'
import {
  randomFrom,
  type TortureOptions,
  type TortureSummary,
  type TortureTask,
  untilOver,
} from '../../../scripts/torture-task.ts'
import { keyedFigures } from '../../postgres/both-loads.ts'
import { KeyedLoad, type MadeRequest } from '../../postgres/keyed-load.ts'
import { contradictions } from '../../postgres/register-check.ts'
import { PET_IDS } from '../../postgres/shop.ts'
import { FaultyShop, SHOP_IDS } from '../disk/faulty-shop.ts'
import { PowerLossDisk } from '../disk/power-loss-disk.ts'
import { checkWithCommands } from './shown-stock.ts'
import type { UpdateLedger } from './update-ledger.ts'
import { UpdateLoad } from './update-load.ts'

export interface KillOptions {
  readonly seed: number
  readonly isOver: (kills: number) => boolean
  readonly say?: (progress: string) => void
  /** Each kill is a power cut: unflushed data is lost. */
  readonly losesPower?: boolean
}

/** The counts of every run with kills. */
export interface KillCounts {
  readonly kills: number
  readonly load: UpdateLoad
  /** Adjustments and updates with an Idempotency-Key, which are repeated after each kill. */
  readonly keyed: KeyedLoad
  readonly ledger: UpdateLedger
  readonly violations: readonly string[]
}

export interface KillReport extends KillCounts {
  /** Kills before the service listened, during the recovery of the file. */
  readonly killsAtStart: number
  /** How often the write-ahead log was restarted under load. */
  readonly restartedLogs: number
}

const WRITERS = 8
const KEYED_CALLERS = 4
/** A kill comes after at most this many updates. */
const MAX_UPDATES = 200
const LONGEST_START_MS = 250
const START_KILL_CHANCE = 0.15
/** Otherwise at any time. */
const IN_COMMIT_CHANCE = 0.6
const LONGEST_WAIT_FOR_COMMIT_MS = 50
/** A commit writes for a while, waits for the disk, and is acknowledged. */
const LONGEST_COMMIT_MS = 1
/** The service itself lets its log grow for longer than a round. */
const RESTART_LOG_CHANCE = 0.3
/** The commands read everything, so not after every kill. */
const COMMANDS_EVERY = 20

/** Repeatedly kills the service under load, and checks for violations after each start. */
export async function killAgainAndAgain(options: KillOptions): Promise<KillReport> {
  const { seed, isOver, say, losesPower = false } = options
  const random = randomFrom(seed)
  const shop = await FaultyShop.closed()
  const disk = losesPower ? new PowerLossDisk(shop.path) : undefined
  if (disk !== undefined) shop.through = await disk.through()
  await shop.start()
  const { ledger, key, scantKey } = shop
  const load = new UpdateLoad({ ledger, petIds: SHOP_IDS, key, scantKey, random, writers: WRITERS })
  const keyed = keyedLoad(ledger, key, random)
  const violations: string[] = []
  let rounds = 0
  let kills = 0
  let killsAtStart = 0
  let restartedLogs = 0
  const check = async () => {
    await keyed.settle([shop.address])
    violations.push(...(await shop.violations()))
    // The process that could have made the unanswered updates is dead.
    ledger.settle()
    if (++rounds % COMMANDS_EVERY !== 0 && !isOver(kills)) return
    violations.push(...(await checkWithCommands(ledger, SHOP_IDS.slice(0, 2), shop.url)))
    say?.(`${kills} kills, ${ledger.counts.acknowledged} acknowledged`)
  }
  try {
    while (!isOver(kills)) {
      let isKilled = false
      const loading = Promise.all([
        load.run([shop.address], () => false),
        keyed.run([shop.address], () => isKilled),
      ])
      if (random() < RESTART_LOG_CHANCE) {
        await ledger.untilAcknowledged(1 + random() * MAX_UPDATES)
        await restartLog(shop.path, shop.through)
        restartedLogs++
      }
      await ledger.untilAcknowledged(1 + random() * MAX_UPDATES)
      if (random() < IN_COMMIT_CHANCE) waitForCommit(shop.path, random() * LONGEST_COMMIT_MS)
      await shop.kill()
      isKilled = true
      await loading
      kills++
      if (random() < START_KILL_CHANCE) {
        disk?.cut(random)
        await shop.killDuringStart(random() * LONGEST_START_MS)
        kills++
        killsAtStart++
      }
      disk?.cut(random)
      await shop.start()
      await check()
    }
  } finally {
    await shop.close()
  }
  return {
    kills,
    killsAtStart,
    restartedLogs,
    load,
    keyed,
    ledger,
    violations: [...violations, ...loadViolations(load, keyed)],
  }
}

/** Records its changes in the ledger when they are answered; those in progress at a kill, once they were repeated. */
export function keyedLoad(ledger: UpdateLedger, key: string, random: () => number): KeyedLoad {
  const onMade = ({ changes, began, ended }: MadeRequest) => {
    for (const { petId, before, after } of changes) {
      ledger.note({
        petId: BigInt(petId),
        quantity: after,
        began,
        ended,
        fate: 'acknowledged',
        ...(before === undefined ? {} : { onlyAfter: before }),
      })
    }
  }
  const nextValue = () => ledger.nextQuantity()
  return new KeyedLoad({ key, petIds: PET_IDS, callers: KEYED_CALLERS, nextValue, random, onMade })
}

/** The violations in the responses of both loads. */
export function loadViolations(load: UpdateLoad, keyed: KeyedLoad): string[] {
  const initial = new Map(PET_IDS.map((petId) => [petId, 0]))
  return [
    ...contradictions([...load.operations, ...keyed.operations], initial),
    ...load.surprises,
    ...keyed.surprises,
  ]
}

/** Waits until this time after the write-ahead log has grown: a kill then hits a commit, or the moment after it. */
export function waitForCommit(path: string, afterMs: number): void {
  const log = `${path}-wal`
  const { size } = statSync(log)
  const deadline = performance.now() + LONGEST_WAIT_FOR_COMMIT_MS
  while (statSync(log).size === size && performance.now() < deadline);
  const until = performance.now() + afterMs
  while (performance.now() < until);
}

/**
 * Copies the whole log into the file, so that the next update restarts the log at its beginning, over the old
 * content.
 */
async function restartLog(path: string, through: readonly string[]): Promise<void> {
  const script = join(import.meta.dir, 'restart-log.ts')
  const program = Bun.spawn([...through, process.execPath, script, path], { stderr: 'inherit' })
  if ((await program.exited) !== 0) throw new Error('the write-ahead log could not be restarted')
}

/** The figures that every run with kills has. */
export function killFigures({ kills, load, keyed, ledger }: KillCounts): TortureSummary['figures'] {
  const { acknowledged, refused, unsure } = ledger.counts
  return [
    ['kills', String(kills)],
    ['updates acknowledged', String(acknowledged)],
    ['updates refused', String(refused)],
    ['updates without an answer', String(unsure)],
    [
      'reads and writes checked as one register for each pet',
      String(load.operations.length + keyed.operations.length),
    ],
    ...keyedFigures(keyed),
  ]
}

const LEAST_KILLS = 500

export const killsTask: TortureTask = {
  name: 'kills',
  promise: 'After a kill -9 every acknowledged update exists, and no rejected one.',
  share: 3,
  run: async (options: TortureOptions) => {
    const isOver = untilOver(options, LEAST_KILLS)
    const report = await killAgainAndAgain({ seed: options.seed, isOver, say: options.say })
    return {
      figures: [
        ...killFigures(report),
        ['of the kills, during a start', String(report.killsAtStart)],
        ['restarts of the write-ahead log under load', String(report.restartedLogs)],
      ],
      violations: report.violations,
    }
  },
}
