import type { Command } from 'commander'
import type { HistoryEntry, PruneLimit, Removal } from '../../core/stock/history.ts'
import type { HistoryStore } from '../../core/stock/stock-store.ts'
import { ADJUST_KEY_ID } from '../../core/transfer/staged-adjustment.ts'
import { IMPORT_KEY_ID } from '../../core/transfer/staged-import.ts'
import type { Store } from '../../store/store.ts'
import { readPetId, readWhen, wholeNumber, wrongUse } from '../arguments.ts'
import { type AskingFlags, ask, requireAnswer } from '../asking.ts'
import { interruptible } from '../interruption.ts'
import { counted, grouped, json, moment, table } from '../output.ts'
import { Progress } from '../progress.ts'
import { databaseName, type SettingFlags, setting, withStore } from '../with-store.ts'

interface PruneFlags extends SettingFlags, AskingFlags {
  readonly before?: string
  readonly keep?: number
  readonly dryRun?: true
}

/** What changes stock without a key. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  [IMPORT_KEY_ID, 'petstore import'],
  [ADJUST_KEY_ID, 'petstore adjust'],
])

type PrunableStore = Pick<HistoryStore, 'countPrunable' | 'pruneHistory'>

const PAGE = 1_000
/** Removed in one commit, which updates wait for. */
const BATCH = 1_000
const MIN_PAUSE_MS = 5

export function addHistoryCommand(program: Command): void {
  const history = program
    .command('history')
    .usage('<petId> [options] | prune [options]')
    .description('Look at what happened to the stock, and remove what is too old to be asked for.')
  // `petstore history 7`: the word `show` may be left out.
  history
    .command('show', { isDefault: true })
    .usage('<petId> [options]')
    .description('Show every change of the stock of one pet, oldest first. Times are in UTC.')
    .argument('<petId>', '', readPetId)
    .option('--json', 'for machines')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(showHistory)
  history
    .command('prune')
    .description(
      'Remove the oldest changes of all pets for good, while the service runs. Every quantity stays as it is.',
    )
    .option(
      '--before <when>',
      'those before a day or time such as 2027-01-31, or older than 90d or 12h, counted back from now',
    )
    .option('--keep <number>', 'all but this many of the newest', wholeNumber('--keep', 0))
    .option('--dry-run', 'show how many that would be, and change nothing')
    .option('--yes', 'do not ask')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(pruneHistory)
}

async function showHistory(petId: bigint, flags: SettingFlags & { readonly json?: true }): Promise<void> {
  const { pet, entries, removal } = await withStore(flags, 'expect', async (store) => {
    const found = await store.findPet(petId)
    return {
      pet: found,
      entries: await oldestFirst(store, petId),
      removal: found === undefined ? await store.findRemoval(petId) : undefined,
    }
  })
  if (pet === undefined && entries.length === 0 && removal === undefined)
    throw new Error(`there is no pet ${petId}, and the history knows of none`)
  if (flags.json === true) {
    const removed = removal === undefined ? [] : [{ ...whenAndWho(removal), removed: true }]
    console.log(json([...entries.map(forMachines), ...removed]))
  } else if (entries.length === 0) {
    console.log(`The history holds no change of the stock of pet ${petId}.`)
  } else {
    const tellsPurpose = entries.some(({ reason, reference }) => (reason ?? reference) !== undefined)
    console.log(
      table(
        ['WHEN', 'BEFORE', 'AFTER', 'CHANGE', 'KEY', ...(tellsPurpose ? ['REASON', 'REFERENCE'] : [])],
        entries.map((entry) => [
          ...[second(entry.at), entry.before, entry.after],
          ...[signed(entry.after - entry.before), nameOf(entry) ?? entry.keyId],
          ...(tellsPurpose ? [entry.reason ?? '', entry.reference ?? ''] : []),
        ]),
      ),
    )
  }
  if (removal !== undefined && flags.json !== true) {
    console.log(`Pet ${petId} was removed at ${second(removal.at)} by ${nameOf(removal) ?? removal.keyId}.`)
  }
}

function second(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ')
}

async function oldestFirst(
  store: Pick<Store, 'listHistoryPage'>,
  petId: bigint,
): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = []
  let cursor: string | undefined
  do {
    const page = await store.listHistoryPage(petId, PAGE, cursor)
    if (page === 'unknown_cursor') throw new Error(`the store does not know its own cursor "${cursor}"`)
    entries.push(...page.entries)
    cursor = page.next
  } while (cursor !== undefined)
  return entries.reverse()
}

/** `undefined` where the key is not known any more. */
function nameOf({ keyId, keyName }: Removal): string | undefined {
  const command = COMMANDS.get(keyId)
  if (command !== undefined) return command
  return keyName === keyId ? undefined : keyName
}

function signed(change: number): string {
  return change > 0 ? `+${change}` : String(change)
}

function whenAndWho(entry: Removal) {
  const { petId, at, keyId } = entry
  return { petId, at: new Date(at).toISOString(), keyId, keyName: nameOf(entry) ?? null }
}

function forMachines(entry: HistoryEntry) {
  return {
    ...whenAndWho(entry),
    before: entry.before,
    after: entry.after,
    change: entry.after - entry.before,
    ...(entry.reason === undefined ? {} : { reason: entry.reason }),
    ...(entry.reference === undefined ? {} : { reference: entry.reference }),
  }
}

async function pruneHistory(flags: PruneFlags): Promise<void> {
  // A mistake in the arguments is reported without opening the database.
  readLimit(flags, Date.now())
  if (flags.dryRun !== true) requireAnswer(flags, 'removes the changes')
  await withStore(flags, 'expect', async (store, config) => {
    const limit = readLimit(flags, store.clock())
    const { prunable, total } = await store.countPrunable(limit)
    const which = `${grouped(prunable)} of ${counted(total, 'change')}: those ${described(limit)}`
    if (flags.dryRun === true) console.log(`Would remove ${which}. Nothing was changed.`)
    else if (prunable === 0) console.log(`There is nothing ${described(limit)}; ${leftText(total)}.`)
    else {
      ask(flags, `Remove ${which}, for good?`)
      await removeAndReport(store, limit, prunable, databaseName(config))
    }
  })
}

function readLimit({ before, keep }: PruneFlags, now: number): PruneLimit {
  if (before === undefined && keep !== undefined) return { keep }
  if (before === undefined || keep !== undefined) return wrongUse('give either --before or --keep')
  const time = readWhen('--before', before, now, 'back')
  return time <= now ? { before: time } : wrongUse(`--before must not be in the future, got "${before}"`)
}

function described(limit: PruneLimit): string {
  return 'before' in limit ? `before ${moment(limit.before)} UTC` : `before the newest ${grouped(limit.keep)}`
}

function leftText(total: number): string {
  return total === 1 ? '1 change is left' : `${grouped(total)} changes are left`
}

async function removeAndReport(
  store: PrunableStore,
  limit: PruneLimit,
  prunable: number,
  database: string,
): Promise<void> {
  const progress = new Progress()
  await interruptible('what was removed until then stays removed', async (signal) => {
    const removed = await removeInBatches(store, limit, {
      signal,
      onProgress: (rows) => progress.show('removing', rows, Math.min(1, rows / prunable)),
    }).finally(() => progress.end())
    const { total } = await store.countPrunable(limit)
    console.log(`Removed ${counted(removed, 'change')} from ${database}; ${leftText(total)}.`)
  })
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
