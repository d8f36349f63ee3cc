import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { petstore } from '../../server/test/cli/petstore.ts'

const KINDS = [
  'Beagle',
  'Collie',
  'Terrier',
  'Siamese',
  'Persian',
  'Finch',
  'Tetra',
  'Rabbit',
  'Gecko',
  'Ferret',
]
const STATUSES = ['available', 'pending', 'sold']
const CATEGORIES = 20
/** One pet in this many has the rare word in its name. */
const RARE_EVERY = 50_000
const DAY_MS = 86_400_000

/** One day in June, and the range of times that the log covers. */
export const JUNE_DAY = { since: '2026-06-15T00:00:00Z', until: '2026-06-16T00:00:00Z' }
const LOG_START = Date.parse('2026-01-01T00:00:00Z')
const LOG_DAYS = 320
export const RARE_KEY = 'key_rare'
export const COMMON_KEY = 'key_3'

/** The values of each parameter of a search; `undefined` omits the parameter. */
export const SEARCH_PARAMETERS = {
  q: [undefined, 'pet', 'unicorn', 'pet bea 7', 'dragon'],
  status: [undefined, 'pending'],
  categoryId: [undefined, '7'],
  low: [undefined, 'true'],
  below: [undefined, '5'],
} as const

/** Fills a store with `count` pets through the import of the real program, which logs the low ones at this time. */
export async function importPets(count: number, folder: string, databaseUrl: string): Promise<void> {
  const path = join(folder, 'pets.csv')
  const file = Bun.file(path).writer()
  file.write('petId,name,categoryId,status,quantity,lowStockAt\n')
  for (let id = 1; id <= count; id++) {
    const mixed = Math.imul(id, 0x9e3779b1) >>> 0
    const word = id % RARE_EVERY === 0 ? 'Unicorn' : KINDS[mixed % KINDS.length]
    const threshold = id % 100 === 0 ? 10_000 : 10
    file.write(
      `${id},Pet ${word} ${id},${1 + (mixed % CATEGORIES)},${STATUSES[id % 3]},${mixed % 1_000},${threshold}\n`,
    )
    if (id % 10_000 === 0) await file.flush()
  }
  await file.end()
  await run(['import', 'pets', path], folder, databaseUrl)
}

export function makeTables(folder: string, databaseUrl: string): Promise<void> {
  return run(['migrate'], folder, databaseUrl)
}

async function run(args: readonly string[], cwd: string, databaseUrl: string): Promise<void> {
  const { exitCode, stderr } = await petstore(args, { cwd, env: { DATABASE_URL: databaseUrl } })
  if (exitCode !== 0) throw new Error(`petstore ${args[0]} failed: ${stderr}`)
}

/**
 * Writes `rows` changes into the log, evenly over most of a year. One key made ten changes, near the beginning; the reason
 * "damaged" only occurs there.
 */
const changesFrom = (numbers: string, rows: number, pets: number) => `
  INSERT INTO log (id, kind, pet_id, before, after, at, key_id, reason)
  SELECT first.id + n, 'change', 1 + n % ${pets}, n % 100, (n + 1) % 100,
    ${LOG_START} + n * ${LOG_DAYS * DAY_MS} / ${rows},
    CASE WHEN n BETWEEN 1000 AND 1009 THEN '${RARE_KEY}' ELSE 'key_' || (n % 20) END,
    CASE WHEN n BETWEEN 1000 AND 1009 THEN 'damaged' ELSE 'sold' END
  FROM ${numbers} CROSS JOIN (SELECT coalesce(max(id), 0) + 1 AS id FROM log) AS first`

/** No service has the file open meanwhile, so the changes are written without a write-ahead log. */
export function addChangesToSqlite(path: string, rows: number, pets: number): void {
  const database = new Database(path)
  database.run('PRAGMA journal_mode = MEMORY')
  database.run('PRAGMA synchronous = OFF')
  database.run('PRAGMA cache_size = -200000')
  const numbers = `(WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${rows - 1})
    SELECT n FROM numbers)`
  database.run(changesFrom(numbers, rows, pets))
  database.run('PRAGMA journal_mode = WAL')
  database.close()
}

export function addChangesToPostgres(url: string, rows: number, pets: number): Promise<void> {
  const numbers = `generate_series(0, ${rows - 1}::bigint) AS numbers (n)`
  return runOnPostgres(url, [
    changesFrom(numbers, rows, pets),
    "SELECT setval('log_ids', (SELECT max(id) + 1000000 FROM log))",
    'ANALYZE log',
  ])
}

async function runOnPostgres(url: string, statements: readonly string[]): Promise<void> {
  const sql = new Bun.SQL({ adapter: 'postgres', url, max: 1 })
  try {
    for (const statement of statements) await sql.unsafe(statement)
  } finally {
    await sql.close()
  }
}
