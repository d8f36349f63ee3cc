import type { Command } from 'commander'
import type { PruneLimit } from '../../../core/stock/history.ts'
import type { HistoryStore } from '../../../core/stock/stock-store.ts'
import { counted } from '../../import-report.ts'
import { interruptible } from '../../interruption.ts'
import { grouped, Progress } from '../../progress.ts'
import { moment } from '../../table.ts'
import { parseDuration, parseTime } from '../../time-words.ts'
import { addSettings, type SettingFlags, withExistingStore } from '../../with-store.ts'

interface Flags extends SettingFlags {
  readonly before?: string
  readonly keep?: string
  readonly dryRun?: true
  readonly yes?: true
}

type PrunableStore = Pick<HistoryStore, 'countPrunable' | 'pruneHistory'>

/** Removed in one commit, which updates wait for. */
const BATCH = 1_000
const MIN_PAUSE_MS = 5

export function addPrune(history: Command): void {
  const prune = history
    .command('prune')
    .description(
      'Remove the oldest changes of all pets for good, while the service runs. Every quantity stays as it is.',
    )
    .option(
      '--before <when>',
      'those before a day or time such as 2027-01-31, or older than 90d or 12h, counted back from now',
    )
    .option('--keep <number>', 'all but this many of the newest')
    .option('--dry-run', 'show how many that would be, and change nothing')
    .option('--yes', 'do not ask')
    .action(pruneHistory)
  addSettings(prune, 'databaseUrl')
}

async function pruneHistory(flags: Flags, command: Command): Promise<void> {
  const limit = readLimit(flags, Date.now(), (message) => command.error(message))
  const mustAsk = flags.yes !== true && flags.dryRun !== true
  if (mustAsk && !process.stdin.isTTY) {
    command.error('there is no terminal to ask on; --yes removes the changes without asking')
  }
  await withExistingStore(flags, async (store) => {
    const { prunable, total } = await store.countPrunable(limit)
    const which = `${grouped(prunable)} of ${counted(total, 'change')}: those ${described(limit)}`
    if (flags.dryRun === true) console.log(`Would remove ${which}. Nothing was changed.`)
    else if (prunable === 0) console.log(`There is nothing ${described(limit)}; ${leftText(total)}.`)
    else if (mustAsk && !confirm(`Remove ${which}, for good?`)) throw new Error('nothing was changed')
    else await removeAndReport(store, limit, prunable)
  })
}

function readLimit(flags: Flags, now: number, wrong: (message: string) => never): PruneLimit {
  const { before, keep } = flags
  if ((before === undefined) === (keep === undefined)) return wrong('give either --before or --keep')
  if (keep !== undefined) {
    if (!/^\d{1,15}$/.test(keep)) return wrong(`--keep must be a whole number of 0 or more, got "${keep}"`)
    return { keep: Number(keep) }
  }
  const text = before ?? ''
  const age = parseDuration(text)
  const time = age === undefined ? parseTime(text) : now - age
  if (time === undefined) return wrong(`--before must be like 90d, 12h or 2027-01-31, got "${text}"`)
  return time <= now ? { before: time } : wrong(`--before must not be in the future, got "${text}"`)
}

function described(limit: PruneLimit): string {
  return 'before' in limit ? `before ${moment(limit.before)} UTC` : `before the newest ${grouped(limit.keep)}`
}

function leftText(total: number): string {
  return total === 1 ? '1 change is left' : `${grouped(total)} changes are left`
}

async function removeAndReport(store: PrunableStore, limit: PruneLimit, prunable: number): Promise<void> {
  const progress = new Progress()
  try {
    await interruptible('what was removed until then stays removed', async (signal) => {
      const removed = await removeInBatches(store, limit, {
        signal,
        onProgress: (rows) => progress.show('removing', rows, Math.min(1, rows / prunable)),
      })
      progress.end()
      const { total } = await store.countPrunable(limit)
      console.log(`Removed ${counted(removed, 'change')}; ${leftText(total)}.`)
    })
  } finally {
    progress.end()
  }
}

/** Rests after each batch for as long as it took: half of the time is for the updates of the service. */
export async function removeInBatches(
  store: PrunableStore,
  limit: PruneLimit,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (removed: number) => void },
): Promise<number> {
  let removed = 0
  for (;;) {
    signal.throwIfAborted()
    const began = performance.now()
    const count = await store.pruneHistory(limit, BATCH)
    removed += count
    onProgress(removed)
    if (count < BATCH) return removed
    await Bun.sleep(Math.max(MIN_PAUSE_MS, performance.now() - began))
  }
}
