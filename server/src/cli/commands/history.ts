import type { PruneLimit } from '../../core/stock/history.ts'
import type { HistoryStore } from '../../core/stock/stock-store.ts'
import {
  type ConfirmFlags,
  type PetstoreCommand,
  type TimeResolver,
  throwUsageError,
  timeParser,
  wholeNumberParser,
} from '../arguments.ts'
import { Progress } from '../progress.ts'
import {
  formatCount,
  formatMinute,
  formatNumber,
  requireConfirmation,
  runInterruptible,
} from '../terminal.ts'
import type { OpenedStore } from '../with-store.ts'

interface PruneFlags extends ConfirmFlags {
  readonly before?: TimeResolver
  readonly keep?: number
  readonly dryRun?: true
}

type PrunableStore = Pick<HistoryStore, 'countPrunable' | 'pruneHistory'>

/** Each commit deletes this many entries. A running service cannot write until the commit is done. */
const BATCH_SIZE = 1_000
const MIN_PAUSE_MS = 5

export function addHistoryCommands(program: PetstoreCommand): void {
  program
    .command('history')
    .description('Delete old history entries.')
    .command('prune')
    .description(
      'Permanently delete the oldest history entries of stock, orders, pets and categories, even while the service is running. The stock stays the same.',
    )
    .option(
      '--before <when>',
      'delete the entries before a day or time such as 2027-01-31, or older than an age such as 90d or 12h',
      timeParser('past', '--before'),
    )
    .option(
      '--keep <number>',
      'keep this many of the newest entries and delete the others',
      wholeNumberParser('--keep', 0),
    )
    .option('--dry-run', 'show how many entries would be deleted, and delete nothing')
    // This hook is added before that of `confirmOption`, which fails without a terminal, so that wrong flags are reported first.
    .hook('preAction', (command) => {
      parseLimit(command.opts())
    })
    .confirmOption('deletes the entries')
    .storeAction(pruneHistory)
}

async function pruneHistory({ store, database }: OpenedStore, flags: PruneFlags): Promise<void> {
  const limitAt = parseLimit(flags)
  const limit = limitAt(store.clock())
  const { prunable, total } = await countWithProgress(store, limit)
  const selection = `${formatEntries(prunable)} ${describeLimit(limit)}, out of ${formatNumber(total)}`
  if (flags.dryRun === true) {
    console.log(`Would delete ${selection}. Nothing was changed.`)
  } else if (prunable === 0) {
    console.log(`There are no entries ${describeLimit(limit)}; the history has ${formatEntries(total)}.`)
  } else {
    await requireConfirmation(flags, `Permanently delete ${selection}?`)
    await pruneAndReport(store, limit, prunable, database)
  }
}

function parseLimit({ before, keep }: PruneFlags): (now: number) => PruneLimit {
  if (before !== undefined && keep === undefined) return (now) => ({ before: before(now) })
  if (before === undefined && keep !== undefined) return () => ({ keep })
  return throwUsageError('give either --before or --keep')
}

function describeLimit(limit: PruneLimit): string {
  return 'before' in limit
    ? `before ${formatMinute(limit.before)} UTC`
    : `older than the newest ${formatNumber(limit.keep)}`
}

function formatEntries(count: number): string {
  return formatCount(count, 'entry', 'entries')
}

function countWithProgress(store: PrunableStore, limit: PruneLimit) {
  const progress = new Progress('entries')
  return store.countPrunable(limit, (count) => progress.show('counting', count)).finally(() => progress.end())
}

async function pruneAndReport(
  store: PrunableStore,
  limit: PruneLimit,
  prunable: number,
  database: string,
): Promise<void> {
  const progress = new Progress('entries')
  await runInterruptible('the entries deleted so far stay deleted', async (signal) => {
    const deleted = await pruneInBatches(store, limit, {
      signal,
      onProgress: (count) => progress.show('deleting', count, Math.min(1, count / prunable)),
    }).finally(() => progress.end())
    const { total } = await countWithProgress(store, limit)
    console.log(
      `Deleted ${formatEntries(deleted)} from ${database}; ${formatEntries(total)} ${total === 1 ? 'is' : 'are'} left.`,
    )
  })
}

/** Pauses after each batch for as long as the batch took, so that the service can write half of the time. */
export async function pruneInBatches(
  store: PrunableStore,
  limit: PruneLimit,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (deleted: number) => void },
): Promise<number> {
  let deleted = 0
  for (;;) {
    signal.throwIfAborted()
    const startedAt = performance.now()
    const count = await store.pruneHistory(limit, BATCH_SIZE)
    deleted += count
    onProgress(deleted)
    if (count < BATCH_SIZE) return deleted
    await Bun.sleep(Math.max(MIN_PAUSE_MS, performance.now() - startedAt))
  }
}
