import type { Command } from 'commander'
import type { HistoryEntry } from '../../../core/stock/history.ts'
import { IMPORT_KEY_ID } from '../../../core/transfer/staged-import.ts'
import type { Store } from '../../../store/store.ts'
import { readPetId } from '../../pet-id.ts'
import { table } from '../../table.ts'
import { addSettings, type SettingFlags, withExistingStore } from '../../with-store.ts'

interface Flags extends SettingFlags {
  readonly json?: true
}

const PAGE = 1_000

/** `petstore history 7`: the word `show` may be left out. */
export function addShow(history: Command): void {
  const show = history
    .command('show', { isDefault: true })
    .usage('<petId> [options]')
    .description('Show every change of the stock of one pet, oldest first. Times are in UTC.')
    .argument('<petId>')
    .option('--json', 'for machines')
    .action(showHistory)
  addSettings(show, 'databaseUrl')
}

async function showHistory(text: string, flags: Flags, command: Command): Promise<void> {
  const petId = readPetId(text, command)
  const { pet, entries } = await withExistingStore(flags, async (store) => ({
    pet: await store.findPet(petId),
    entries: await oldestFirst(store, petId),
  }))
  if (pet === undefined && entries.length === 0)
    throw new Error(`there is no pet ${petId}, and there was none`)
  if (flags.json === true) console.log(forMachines(entries))
  else if (entries.length === 0) console.log(`The stock of pet ${petId} has not changed since it was added.`)
  else {
    console.log(
      table(
        ['WHEN', 'BEFORE', 'AFTER', 'CHANGE', 'KEY'],
        entries.map((entry) => [
          ...[new Date(entry.at).toISOString().slice(0, 19).replace('T', ' '), entry.before, entry.after],
          ...[signed(entry.after - entry.before), nameOf(entry) ?? entry.keyId],
        ]),
      ),
    )
  }
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
function nameOf({ keyId, keyName }: HistoryEntry): string | undefined {
  if (keyId === IMPORT_KEY_ID) return 'petstore import'
  return keyName === keyId ? undefined : keyName
}

function signed(change: number): string {
  return change > 0 ? `+${change}` : String(change)
}

function forMachines(entries: readonly HistoryEntry[]): string {
  const rows = entries.map((entry) => ({
    petId: entry.petId,
    at: new Date(entry.at).toISOString(),
    before: entry.before,
    after: entry.after,
    change: entry.after - entry.before,
    keyId: entry.keyId,
    keyName: nameOf(entry) ?? null,
  }))
  const digits = (_: string, value: unknown) =>
    typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value
  return JSON.stringify(rows, digits, 2)
}
