import { Database } from 'bun:sqlite'
import { openStore } from '../../../src/store/open-store.ts'
import { petstore } from '../../cli/petstore.ts'
import { historyOf } from '../../support/whole-store.ts'
import type { Link, Shown, UpdateLedger } from './update-ledger.ts'

/** A running service, as a caller with a key sees it. */
export interface Caller {
  readonly address: string
  readonly key: string
}

interface Item {
  readonly petId: number
  readonly quantity: number
}

/** Compares what the service shows of each pet with what was sent: lists, single entries and histories. */
export async function checkThroughApi(
  ledger: UpdateLedger,
  petIds: readonly bigint[],
  caller: Caller,
): Promise<string[]> {
  const list = (await get(caller, '/inventory')).body as Item[]
  const shown = await Promise.all(
    petIds.map(async (petId): Promise<readonly [bigint, Shown]> => {
      const entry = (await get(caller, `/inventory/${petId}`)).body as Item
      const listed = list.find((item) => BigInt(item.petId) === petId)?.quantity ?? Number.NaN
      return [
        petId,
        {
          links: await newestLinks(caller, petId, ledger.latestId(petId)),
          quantities: { 'the list': listed, 'its entry': entry.quantity },
        },
      ]
    }),
  )
  return shown.flatMap(([petId, one]) => ledger.violations(petId, one))
}

export interface HistoryRow extends Link {
  readonly reason?: string
  readonly reference?: string
}

/** The whole history of a pet, oldest first. */
export function readHistory(caller: Caller, petId: bigint): Promise<HistoryRow[]> {
  return newestLinks(caller, petId, undefined)
}

/** The newest rows of a history, back to the one with this id, oldest first. */
async function newestLinks(
  caller: Caller,
  petId: bigint,
  knownId: string | undefined,
): Promise<HistoryRow[]> {
  const links: HistoryRow[] = []
  let path: string | undefined = `/inventory/${petId}/history?limit=100`
  while (path !== undefined) {
    const { body, next }: { body: unknown; next: string | undefined } = await get(caller, path)
    links.push(...(body as HistoryRow[]))
    path = knownId !== undefined && links.some(({ id }) => id === knownId) ? undefined : next
  }
  return links.reverse()
}

async function get(
  { address, key }: Caller,
  path: string,
): Promise<{ body: unknown; next: string | undefined }> {
  const response = await fetch(`${address}/v1${path}`, { headers: { Authorization: `Bearer ${key}` } })
  const body = await response.json()
  if (response.status !== 200)
    throw new Error(`${path} was answered ${response.status}: ${JSON.stringify(body)}`)
  const next = /<[^>]*?\/v1(\/[^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1]
  return { body, next }
}

/** The same without the service: petstore check, and whole histories. */
export async function checkWithCommands(
  ledger: UpdateLedger,
  petIds: readonly bigint[],
  databaseUrl: string,
): Promise<string[]> {
  const env = { DATABASE_URL: databaseUrl }
  const check = await petstore(['check'], { env })
  const found =
    check.exitCode === 0 && check.stdout.includes('the database is intact')
      ? []
      : [`petstore check: ${check.stdout}${check.stderr}`]
  const store = await openStore(databaseUrl, { tables: 'require_current_tables' })
  for (const petId of petIds) {
    const rows = await historyOf(store, petId)
    const seen = rows.map(({ before, after }) => `${before} → ${after}`)
    const expected = ledger.history(petId).map(({ before, after }) => `${before} → ${after}`)
    if (seen.join() !== expected.join()) {
      found.push(`the history of pet ${petId} has other changes than the service made`)
    }
  }
  await store.close()
  return found
}

/** The findings of SQLite itself, on a separate connection. */
export function checkFile(path: string): string[] {
  const database = new Database(path, { readonly: true })
  try {
    return database
      .query<{ integrity_check: string }, []>('PRAGMA integrity_check')
      .all()
      .map((row) => row.integrity_check)
      .filter((line) => line !== 'ok')
  } finally {
    database.close()
  }
}
