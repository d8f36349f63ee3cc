import type { Command } from 'commander'
import type { HistoryEntry } from '../../core/stock/history.ts'
import type { HistoryStore } from '../../core/stock/stock-store.ts'
import { IMPORT_KEY_ID } from '../../core/transfer/staged-import.ts'
import { readPetId } from '../pet-id.ts'
import { table } from '../table.ts'
import { addSettings, type SettingFlags, withExistingStore } from '../with-store.ts'

interface Flags extends SettingFlags {
  readonly json?: true
}

export function addHistoryCommand(program: Command): void {
  const command = program
    .command('history')
    .description('Show every change of the stock of one pet, oldest first. Times are in UTC.')
    .argument('<petId>')
    .option('--json', 'for machines')
    .action(showHistory)
  addSettings(command, 'databaseUrl')
}

async function showHistory(text: string, flags: Flags, command: Command): Promise<void> {
  const petId = readPetId(text, command)
  const { pet, entries, names } = await withExistingStore(flags, async (store) => ({
    pet: await store.findPet(petId),
    entries: await wholeHistory(store, petId),
    names: new Map((await store.listKeys()).map(({ key }) => [key.id, key.name])),
  }))
  if (pet === undefined && entries.length === 0)
    throw new Error(`there is no pet ${petId}, and there was none`)
  names.set(IMPORT_KEY_ID, 'petstore import')
  if (flags.json === true) console.log(forMachines(entries, names))
  else if (entries.length === 0) console.log(`The stock of pet ${petId} has not changed since it was added.`)
  else {
    console.log(
      table(
        ['WHEN', 'BEFORE', 'AFTER', 'CHANGE', 'KEY'],
        entries.map(({ at, before, after, keyId }) => [
          ...[new Date(at).toISOString().slice(0, 19).replace('T', ' '), before, after],
          ...[signed(after - before), names.get(keyId) ?? keyId],
        ]),
      ),
    )
  }
}

async function wholeHistory(store: HistoryStore, petId: bigint): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = []
  let cursor: string | undefined
  do {
    const page = await store.listHistoryPage(petId, 1_000, cursor)
    if (page === 'unknown_cursor') throw new Error('the database does not know its own cursor')
    entries.push(...page.entries)
    cursor = page.next
  } while (cursor !== undefined)
  return entries.reverse()
}

function signed(change: number): string {
  return change > 0 ? `+${change}` : String(change)
}

function forMachines(entries: readonly HistoryEntry[], names: ReadonlyMap<string, string>): string {
  const rows = entries.map(({ petId, at, before, after, keyId }) => ({
    petId,
    at: new Date(at).toISOString(),
    before,
    after,
    change: after - before,
    keyId,
    keyName: names.get(keyId) ?? null,
  }))
  const digits = (_: string, value: unknown) =>
    typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value
  return JSON.stringify(rows, digits, 2)
}
