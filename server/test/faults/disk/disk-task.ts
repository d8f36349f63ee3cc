import { randomFrom, type TortureTask, untilOver } from '../../../scripts/torture-task.ts'
import { contradictions } from '../../postgres/register-check.ts'
import { PET_IDS } from '../../postgres/shop.ts'
import { UpdateLoad } from '../kills/update-load.ts'
import { FaultyShop, SHOP_IDS } from './faulty-shop.ts'
import { canMount, fillDisk, limitFileSize, limitGrowth, mountSmallDisk, unmount } from './full-disk.ts'
import { lockedFile } from './spoilt-file.ts'

export interface DiskOptions {
  readonly seed: number
  readonly isOver: (rounds: number) => boolean
  readonly say?: (progress: string) => void
}

export interface DiskReport {
  readonly rounds: Readonly<Record<FaultName, number>>
  readonly kills: number
  readonly load: UpdateLoad
  readonly violations: readonly string[]
}

const FAULTS = ['no growth', 'full disk', 'lock'] as const
type FaultName = (typeof FAULTS)[number]

const WRITERS = 8
const DISK_MEGABYTES = 256
const BETWEEN = 40
/** From the size of one update to some dozen, so that space runs out at any point of a commit. */
const MAX_GROWTH = 60_000
const REFUSALS = 20
const LONGEST_LOCK_MS = 400
const KILL_CHANCE = 0.3
const PATIENCE_MS = 60_000
const TELL_EVERY = 10

/** Repeatedly removes the free space or the write permission under load, and sometimes kills the service. */
export async function spoilDisk({ seed, isOver, say }: DiskOptions): Promise<DiskReport> {
  const random = randomFrom(seed)
  const isMounted = canMount()
  const shop = await FaultyShop.open((folder) => {
    if (isMounted) mountSmallDisk(folder, DISK_MEGABYTES)
  })
  const { ledger, key, scantKey } = shop
  const load = new UpdateLoad({ ledger, petIds: SHOP_IDS, key, scantKey, random, writers: WRITERS })
  const rounds: Record<FaultName, number> = { 'no growth': 0, 'full disk': 0, lock: 0 }
  const possible = FAULTS.filter((fault) => isMounted || fault !== 'full disk')
  const violations: string[] = []
  let kills = 0
  let total = 0
  const untilRefused = async (more: number) => {
    const before = load.statuses.get(503) ?? 0
    const deadline = performance.now() + PATIENCE_MS
    while ((load.statuses.get(503) ?? 0) < before + more) {
      if (performance.now() > deadline) throw new Error('no update is refused, and nothing can be written')
      await Bun.sleep(1)
    }
  }
  const makeTrouble = async (fault: FaultName): Promise<() => void> => {
    if (fault === 'lock') {
      const other = lockedFile(shop.path)
      await Bun.sleep(random() * LONGEST_LOCK_MS)
      return () => other.close()
    }
    if (fault === 'full disk') {
      const filler = fillDisk(shop.folder)
      await untilRefused(REFUSALS)
      return () => filler.free()
    }
    limitGrowth(shop.pid, shop.path, random() * MAX_GROWTH)
    await untilRefused(REFUSALS)
    return () => limitFileSize(shop.pid, 'unlimited')
  }
  const runRound = async (): Promise<FaultName> => {
    const fault = possible[Math.floor(random() * possible.length)] ?? 'lock'
    let isRoundOver = false
    const loading = load.run([shop.address], () => isRoundOver)
    await ledger.untilAcknowledged(1 + random() * BETWEEN)
    load.isExcused = fault !== 'lock'
    const relieve = await makeTrouble(fault)
    const isKilled = random() < KILL_CHANCE
    if (isKilled) {
      await shop.kill()
      kills++
      await loading
      if (fault !== 'no growth') relieve()
      await shop.start()
    } else {
      relieve()
      await ledger.untilAcknowledged(BETWEEN)
      isRoundOver = true
      await loading
    }
    load.isExcused = false
    return fault
  }
  try {
    while (!isOver(total)) {
      rounds[await runRound()]++
      violations.push(...(await shop.violations()))
      ledger.settle()
      if (++total % TELL_EVERY === 0) say?.(`${total} rounds, ${ledger.counts.acknowledged} acknowledged`)
    }
  } finally {
    if (isMounted) unmount(shop.folder)
    await shop.close()
  }
  violations.push(...contradictions(load.operations, new Map(PET_IDS.map((petId) => [petId, 0]))))
  return { rounds, kills, load, violations: [...violations, ...load.surprises] }
}

const LEAST_ROUNDS = 60

export const diskTask: TortureTask = {
  name: 'disk',
  promise:
    'With a full disk, or while another process locks the file, nothing is lost and no rejected change is made.',
  share: 1,
  run: async (options) => {
    const isOver = untilOver(options, LEAST_ROUNDS)
    const report = await spoilDisk({ seed: options.seed, isOver, say: options.say })
    const { rounds, kills, load } = report
    return {
      figures: [
        ...Object.entries(rounds).map(([fault, count]) => [`rounds of ${fault}`, String(count)] as const),
        ['kills during a fault', String(kills)],
        ['updates and reads', String(load.requests)],
        ['answers of 503', String(load.statuses.get(503) ?? 0)],
      ],
      violations: report.violations,
    }
  },
}
