import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { randomFrom, type TortureTask, untilOver } from '../server/scripts/torture-task.ts'
import { CALLERS, DoomedShop, MAX_LOSS_MS, stockOf } from '../server/test/faults/backup/doomed-shop.ts'
import { canMount, fillDisk, mountSmallDisk, unmount } from '../server/test/faults/disk/full-disk.ts'
import { until } from '../server/test/support/until.ts'

const FULL_FOLDER_MEGABYTES = 1_000
const LEAST_ROUNDS = 200
const SLOW_EVERY = 10
const FULL_EVERY = 10
const FULL_MS = 60_000
const MS = 1_500

/** A program that delays each flush of the backup by 50 ms. The database flushes with fdatasync. */
const SLOW_FLUSHES = [
  'strace',
  ...['-f', '--seccomp-bpf', '-qq', '-o', '/dev/null'],
  ...['-e', 'trace=fsync', '-e', 'inject=fsync:delay_enter=50000'],
]

export const backupTask: TortureTask = {
  name: 'backup',
  promise: `The loss of the database costs at most ${MAX_LOSS_MS} ms, and every moment can be restored.`,
  share: 3,
  run: async (options) => {
    const random = randomFrom(options.seed)
    const isOver = untilOver(options, LEAST_ROUNDS)
    const canDelay = existsSync('/usr/bin/strace')
    const canFill = canMount()
    const violations: string[] = []
    const losses: number[] = []
    let updates = 0
    let slow = 0
    let full = 0
    for (let round = 1; !isOver(round - 1); round++) {
      const isSlow = canDelay && round % SLOW_EVERY === 0
      const isFull = canFill && round % FULL_EVERY === FULL_EVERY / 2
      const isKilledFirst = random() < 0.5
      const through = isSlow ? SLOW_FLUSHES : []
      const result = isFull
        ? await runFullFolderRound(options.isFull ? FULL_MS : MS)
        : await runRound({ isKilledFirst, ms: MS * (0.5 + random()), through, random })
      if (isSlow) slow++
      if (isFull) full++
      updates += result.updates
      losses.push(result.lossMs)
      violations.push(...result.violations.map((violation) => `round ${round}: ${violation}`))
      if (round % SLOW_EVERY === 0) options.say(`${round} rounds, ${describeLosses(losses)}`)
    }
    return {
      figures: [
        ['rounds', String(losses.length)],
        ['with a slow folder', String(slow)],
        ['with a full folder', String(full)],
        ['updates', String(updates)],
        ['age of the oldest lost update', describeLosses(losses)],
      ],
      violations,
    }
  },
}

function describeLosses(losses: readonly number[]): string {
  const sorted = losses.toSorted((one, other) => one - other)
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  return `median ${at(0.5)} ms, 90 % ${at(0.9)} ms, 99 % ${at(0.99)} ms, at most ${at(1)} ms`
}

interface Change {
  readonly id: number
  readonly pet_id: number
  readonly after: number
  readonly at: number
}

function changesOf(path: string): Change[] {
  const database = new Database(path, { readonly: true })
  try {
    return database
      .query<Change, []>("SELECT id, pet_id, after, at FROM log WHERE kind = 'change' ORDER BY id")
      .all()
  } finally {
    database.close()
  }
}

/** How the restored database differs from what all changes of the shop say about a moment. */
function differencesAt(restored: string, all: readonly Change[], at: number): string[] {
  const restoredChanges = changesOf(restored)
  const lastId = restoredChanges.at(-1)?.id ?? 0
  const made = all.filter(({ id }) => id <= lastId)
  const differences: string[] = []
  const late = made.filter((change) => change.at > at)
  if (late.length > 0) differences.push(`${late.length} changes are later than the moment`)
  // A commit has at most one change of each caller. It is restored as a whole or not at all.
  const next = all.filter(({ id }) => id > lastId).slice(0, CALLERS)
  if (next.length > 0 && next.every((change) => change.at <= at)) differences.push('a commit is missing')
  const expected = new Map(made.map(({ pet_id, after }) => [pet_id, after]))
  for (const [petId, quantity] of stockOf(restored)) {
    if (quantity !== (expected.get(petId) ?? 0)) {
      differences.push(`pet ${petId} has ${quantity}, not ${expected.get(petId) ?? 0}`)
    }
  }
  return differences
}

interface RoundOptions {
  readonly isKilledFirst: boolean
  readonly ms: number
  readonly through?: readonly string[]
  readonly random: () => number
}

interface RoundResult {
  readonly lossMs: number
  readonly updates: number
  readonly violations: readonly string[]
}

/** Updates from 16 callers, the loss of the database, a restore, and three restores of earlier moments. */
async function runRound({ isKilledFirst, ms, through, random }: RoundOptions): Promise<RoundResult> {
  const shop = await DoomedShop.open(() => {}, through)
  try {
    await until(() => shop.hasSnapshot())
    const startedAt = Date.now()
    const updating = shop.update()
    await Bun.sleep(ms)
    const lostAt = await shop.lose({ isKilledFirst })
    await updating
    shop.restore()
    const lossMs = shop.lossMs(lostAt)
    const violations = lossMs > MAX_LOSS_MS ? [`an update from ${Math.round(lossMs)} ms before was lost`] : []
    const all = changesOf(shop.restored)
    for (let moment = 0; moment < 3; moment++) {
      const at = startedAt + Math.floor(random() * ms)
      shop.restore(at)
      violations.push(...differencesAt(shop.restored, all, at))
    }
    return { lossMs, updates: shop.acknowledged.length, violations }
  } finally {
    shop.closeForCallers()
    shop.remove()
  }
}

/** The folder is full for a time, during which the service goes on. After it has recovered, the database is lost. */
async function runFullFolderRound(fullMs: number): Promise<RoundResult> {
  const shop = await DoomedShop.open((folder) => mountSmallDisk(folder, FULL_FOLDER_MEGABYTES))
  try {
    await until(() => shop.hasSnapshot())
    shop.pauseMs = 20
    const updating = shop.update()
    const filler = fillDisk(shop.backup)
    await Bun.sleep(fullMs)
    const updates = shop.acknowledged.length
    filler.free()
    await Bun.sleep(MAX_LOSS_MS)
    await until(async () => (await shop.readiness()).warnings === undefined)
    const lostAt = await shop.lose({ isKilledFirst: true })
    await updating
    shop.restore()
    const lossMs = shop.lossMs(lostAt)
    const violations = lossMs > MAX_LOSS_MS ? [`an update from ${Math.round(lossMs)} ms before was lost`] : []
    if (updates === 0) violations.push('no update while the folder was full')
    return { lossMs, updates: shop.acknowledged.length, violations }
  } finally {
    shop.closeForCallers()
    unmount(shop.backup)
    shop.remove()
  }
}
