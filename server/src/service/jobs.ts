import { applyThresholdOf, type ThresholdParts } from '../core/catalog/threshold-changes.ts'
import type { LimitKeeper } from '../core/limits/limit-store.ts'
import { releaseOf } from '../core/orders/expired-holds.ts'
import { ERASURE } from '../core/orders/order.ts'
import { SYSTEM_KEY_ID } from '../core/stock/change-origin.ts'
import type { GroupCommit } from '../core/stock/group-commit.ts'
import { type Clock, DAY } from '../core/values/clock.ts'
import type { Store } from '../store/store.ts'
import type { Job } from './scheduler.ts'

type OrderJobs = 'expiredHolds' | 'personalOrders'

interface JobParts {
  readonly store: Pick<Store, 'backup' | 'checkClock' | 'finishErasures' | 'forgetAnswers' | OrderJobs> &
    ThresholdParts['store']
  readonly limits: Pick<LimitKeeper, 'save'>
  readonly commits: GroupCommit
  readonly clock: Clock
  /** Personal data of orders that were closed earlier is erased. */
  readonly retentionDays: number | 'off'
}

/** Small batches, with a pause after each, let requests use the database in between. */
const ANSWERS_PER_BATCH = 500
const HOLDS_PER_BATCH = 200
const ORDERS_PER_BATCH = 200
const PAUSE_BETWEEN_BATCHES_MS = 5
/** A copy may then take 800 ms, and the loss of the disk still costs at most a second. */
const BACKUP_EVERY_MS = 200

export function backgroundJobs({ store, limits, commits, clock, retentionDays }: JobParts): Job[] {
  let unappliedThresholds: ReadonlyMap<bigint, string> = new Map()
  const { backup } = store
  const backupJob = backup && { name: 'backup', intervalMs: BACKUP_EVERY_MS, run: () => backup.copy() }
  const retentionJob = (days: number): Job => ({
    name: 'erase-customers',
    intervalMs: 60_000,
    run: async (signal) => {
      while (!signal.aborted) {
        const orders = await store.personalOrders(clock() - days * DAY, ORDERS_PER_BATCH)
        if (orders.length === 0) return
        await Promise.all(
          orders.map((order) =>
            commits.run({
              type: 'change_order',
              ...order,
              patch: ERASURE,
              keyId: SYSTEM_KEY_ID,
              at: clock(),
            }),
          ),
        )
        await Bun.sleep(PAUSE_BETWEEN_BATCHES_MS)
      }
    },
  })
  return [
    ...(backupJob === undefined ? [] : [backupJob]),
    {
      name: 'save-limits',
      // A process that is killed loses only the counts since the last save.
      intervalMs: 50,
      run: () => limits.save(),
    },
    {
      name: 'check-clock',
      intervalMs: 1_000,
      run: () => store.checkClock(),
    },
    {
      // Deletes old answers to requests with an Idempotency-Key.
      name: 'forget-answers',
      intervalMs: 60_000,
      run: async (signal) => {
        while (!signal.aborted) {
          const forgottenCount = await store.forgetAnswers(clock(), ANSWERS_PER_BATCH)
          if (forgottenCount < ANSWERS_PER_BATCH) return
          await Bun.sleep(PAUSE_BETWEEN_BATCHES_MS)
        }
      },
    },
    {
      name: 'release-expired-holds',
      // A hold stops reserving units when it expires. This job only records the expiry and emits the event.
      intervalMs: 1_000,
      run: async (signal) => {
        while (!signal.aborted) {
          const holds = await store.expiredHolds(HOLDS_PER_BATCH)
          if (holds.length === 0) return
          // One command for each hold, so that a pet that another process keeps locked does not delay the others. They share a
          // commit.
          const releases = await Promise.allSettled(
            holds.map((hold) => commits.run(releaseOf([hold], clock()))),
          )
          const failed = releases.find(({ status }) => status === 'rejected')
          if (failed?.status === 'rejected') throw failed.reason
          await Bun.sleep(PAUSE_BETWEEN_BATCHES_MS)
        }
      },
    },
    ...(retentionDays === 'off' ? [] : [retentionJob(retentionDays)]),
    {
      name: 'finish-erasures',
      intervalMs: 1_000,
      run: () => store.finishErasures(),
    },
    {
      name: 'apply-thresholds',
      // The request that changes a threshold also applies it. If this takes longer than the interval, the request was probably
      // interrupted.
      intervalMs: 10_000,
      run: async (signal) => {
        const earlier = unappliedThresholds
        unappliedThresholds = await store.unappliedThresholds()
        for (const [categoryId, changeId] of unappliedThresholds) {
          if (earlier.get(categoryId) !== changeId) continue
          await applyThresholdOf(categoryId, { store, commits, clock }, SYSTEM_KEY_ID, signal)
        }
      },
    },
  ]
}
