import type { HistoryEntry, PruneLimit, Removal } from '../../core/stock/history.ts'
import type { HistoryStore } from '../../core/stock/stock-store.ts'
import { ADJUST_KEY_ID, IMPORT_KEY_ID } from '../../core/transfer/import.ts'
import type { Store } from '../../store/store.ts'
import {
  type ConfirmFlags,
  type JsonFlags,
  type PetstoreCommand,
  parsePetId,
  timeIn,
  type When,
  wholeNumber,
  wrongUse,
} from '../arguments.ts'
import {
  counted,
  formatMinute,
  formatSecond,
  grouped,
  interruptible,
  Progress,
  printJson,
  printList,
  requireConfirmation,
} from '../terminal.ts'
import { databaseName, withStore } from '../with-store.ts'

interface PruneFlags extends ConfirmFlags {
  readonly before?: When
  readonly keep?: number
  readonly dryRun?: true
}

/** The commands that change stock without a key. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  [IMPORT_KEY_ID, 'petstore import'],
  [ADJUST_KEY_ID, 'petstore adjust'],
])

type PrunableStore = Pick<HistoryStore, 'countPrunable' | 'pruneHistory'>

const PAGE_SIZE = 1_000
/** The number of changes that one commit removes. Writes of the service wait for that commit. */
const BATCH_SIZE = 1_000
const MIN_PAUSE_MS = 5

export function addHistoryCommands(program: PetstoreCommand): void {
  const history = program
    .command('history')
    .usage('<petId> [options] | prune [options]')
    .description('Show the stock changes of a pet, or remove old changes.')
  // The default, so that `petstore history 7` works.
  history
    .command('show', { isDefault: true })
    .usage('<petId> [options]')
    .description('Show all stock changes of a pet, oldest first. Times are in UTC.')
    .argument('<petId>', '', parsePetId)
    .jsonOption()
    .databaseSettings()
    .action(showHistory)
  history
    .command('prune')
    .description(
      'Remove the oldest changes of all pets permanently, while the service runs. No quantity changes.',
    )
    .option(
      '--before <when>',
      'remove the changes before a day or time such as 2027-01-31, or older than 90d or 12h',
      timeIn('past', '--before'),
    )
    .option('--keep <number>', 'remove all but the newest changes', wholeNumber('--keep', 0))
    .option('--dry-run', 'show the number of changes to remove, and change nothing')
    // Runs before the confirmation, so that wrong flags are reported even without a terminal.
    .hook('preAction', (command) => {
      parseLimit(command.opts())
    })
    .confirmOption('removes the changes')
    .databaseSettings()
    .action(pruneHistory)
}

async function showHistory(petId: bigint, flags: JsonFlags): Promise<void> {
  const { pet, entries, removal } = await withStore(flags, 'expect', async (store) => {
    const found = await store.findPet(petId)
    return {
      pet: found,
      entries: await readOldestFirst(store, petId),
      removal: found === undefined ? await store.findRemoval(petId) : undefined,
    }
  })
  if (pet === undefined && entries.length === 0 && removal === undefined) {
    throw new Error(`there is no pet ${petId}, and the history has no changes of it`)
  }
  if (flags.json === true) {
    const removed = removal === undefined ? [] : [{ ...originToJson(removal), removed: true }]
    printJson([...entries.map(entryToJson), ...removed])
    return
  }
  const hasReasons = entries.some(({ reason, reference }) => (reason ?? reference) !== undefined)
  printList(entries, flags, {
    columns: [
      ['WHEN', ({ at }) => formatSecond(at)],
      ['BEFORE', ({ before }) => before],
      ['AFTER', ({ after }) => after],
      ['CHANGE', ({ before, after }) => (after > before ? `+${after - before}` : String(after - before))],
      ['KEY', (entry) => findName(entry) ?? entry.keyId],
      ...(hasReasons ? REASON_COLUMNS : []),
    ],
    toJson: entryToJson,
    empty: `The history has no stock changes of pet ${petId}.`,
  })
  if (removal !== undefined) {
    console.log(
      `Pet ${petId} was removed at ${formatSecond(removal.at)} by ${findName(removal) ?? removal.keyId}.`,
    )
  }
}

const REASON_COLUMNS = [
  ['REASON', ({ reason }: HistoryEntry) => reason ?? ''],
  ['REFERENCE', ({ reference }: HistoryEntry) => reference ?? ''],
] as const

async function readOldestFirst(
  store: Pick<Store, 'listHistoryPage'>,
  petId: bigint,
): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = []
  let cursor: string | undefined
  do {
    const page = await store.listHistoryPage(petId, PAGE_SIZE, cursor)
    if (page === 'unknown_cursor') throw new Error(`the store must accept its own cursor "${cursor}"`)
    entries.push(...page.entries)
    cursor = page.next
  } while (cursor !== undefined)
  return entries.reverse()
}

/** `undefined` if the key no longer exists. */
function findName({ keyId, keyName }: Removal): string | undefined {
  const command = COMMANDS.get(keyId)
  if (command !== undefined) return command
  return keyName === keyId ? undefined : keyName
}

function originToJson(entry: Removal) {
  const { petId, at, keyId } = entry
  return { petId, at: new Date(at).toISOString(), keyId, keyName: findName(entry) ?? null }
}

function entryToJson(entry: HistoryEntry) {
  return {
    ...originToJson(entry),
    before: entry.before,
    after: entry.after,
    change: entry.after - entry.before,
    ...(entry.reason === undefined ? {} : { reason: entry.reason }),
    ...(entry.reference === undefined ? {} : { reference: entry.reference }),
  }
}

async function pruneHistory(flags: PruneFlags): Promise<void> {
  const limitAt = parseLimit(flags)
  await withStore(flags, 'expect', async (store, config) => {
    const limit = limitAt(store.clock())
    const { prunable, total } = await store.countPrunable(limit)
    const which = `${grouped(prunable)} of ${counted(total, 'change')}: those ${describeLimit(limit)}`
    if (flags.dryRun === true) console.log(`Would remove ${which}. Nothing was changed.`)
    else if (prunable === 0)
      console.log(`There are no changes ${describeLimit(limit)}; ${remainingText(total)}.`)
    else {
      requireConfirmation(flags, `Remove ${which}, permanently?`)
      await removeAndReport(store, limit, prunable, databaseName(config))
    }
  })
}

function parseLimit({ before, keep }: PruneFlags): (now: number) => PruneLimit {
  if (before !== undefined && keep === undefined) return (now) => ({ before: before(now) })
  if (before === undefined && keep !== undefined) return () => ({ keep })
  return wrongUse('give either --before or --keep')
}

function describeLimit(limit: PruneLimit): string {
  return 'before' in limit
    ? `before ${formatMinute(limit.before)} UTC`
    : `before the newest ${grouped(limit.keep)}`
}

function remainingText(total: number): string {
  return total === 1 ? '1 change is left' : `${grouped(total)} changes are left`
}

async function removeAndReport(
  store: PrunableStore,
  limit: PruneLimit,
  prunable: number,
  database: string,
): Promise<void> {
  const progress = new Progress()
  await interruptible('the changes removed so far stay removed', async (signal) => {
    const removed = await removeInBatches(store, limit, {
      signal,
      onProgress: (rows) => progress.show('removing', rows, Math.min(1, rows / prunable)),
    }).finally(() => progress.end())
    const { total } = await store.countPrunable(limit)
    console.log(`Removed ${counted(removed, 'change')} from ${database}; ${remainingText(total)}.`)
  })
}

/** Pauses after each batch for as long as it took, so that the service can write for half of the time. */
export async function removeInBatches(
  store: PrunableStore,
  limit: PruneLimit,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (removed: number) => void },
): Promise<number> {
  let removed = 0
  for (;;) {
    signal.throwIfAborted()
    const began = performance.now()
    const count = await store.pruneHistory(limit, BATCH_SIZE)
    removed += count
    onProgress(removed)
    if (count < BATCH_SIZE) return removed
    await Bun.sleep(Math.max(MIN_PAUSE_MS, performance.now() - began))
  }
}
