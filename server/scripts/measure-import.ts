/**
 * Measures import and export on this machine: `bun server/scripts/measure-import.ts [rows]`, 1,000,000 by default.
 * During each import, a writer tries to take the write lock every 2 ms. Its longest wait shows how long the import keeps a
 * service from writing.
 */
import { Database, SQLiteError } from 'bun:sqlite'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '../src/store/sqlite/store.ts'

const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const STATUSES = ['available', 'pending', 'sold']

const rows = Number(process.argv[2] ?? 1_000_000)
if (!Number.isInteger(rows) || rows < 1 || rows > 5_000_000) {
  console.error('measure-import: the number of rows must be an integer from 1 to 5000000')
  process.exit(2)
}
const folder = mkdtempSync(join(tmpdir(), 'petstore-measure-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const pathOf = (name: string) => join(folder, name)

/** Every tenth name needs quotes. `shuffled` spreads the ids over all of int64 in random order. */
async function writeCsv(
  path: string,
  options: { readonly changed?: number; readonly shuffled?: boolean } = {},
): Promise<void> {
  const file = Bun.file(path).writer()
  file.write('petId,name,categoryId,status,quantity\n')
  for (let row = 1; row <= rows; row++) {
    const id = options.shuffled === true ? BigInt.asIntN(64, BigInt(row) * 0x9e3779b97f4a7c15n) : row
    const name = row % 10 === 0 ? `"Pet ""${row}"", the tenth"` : `Pet number ${row}`
    const quantity = (row % 1_000) + (row <= (options.changed ?? 0) ? 1 : 0)
    file.write(`${id},${name},${row % 50},${STATUSES[row % 3]},${quantity}\n`)
    if (row % 10_000 === 0) await file.flush()
  }
  await file.end()
}

/** A change for each pet of `writeCsv`. */
async function writeChanges(
  path: string,
  header: string,
  quantityOf: (row: number) => number,
): Promise<void> {
  const file = Bun.file(path).writer()
  file.write(`${header}\n`)
  for (let row = 1; row <= rows; row++) {
    file.write(`${row},${quantityOf(row)}\n`)
    if (row % 10_000 === 0) await file.flush()
  }
  await file.end()
}

/** Runs the real program. Returns its duration and its peak memory (VmHWM). */
async function run(...args: string[]): Promise<{ seconds: number; peakMegabytes: number }> {
  const startedAt = performance.now()
  const program = Bun.spawn([process.execPath, MAIN, ...args], {
    stdout: 'ignore',
    stderr: 'pipe',
    env: { PATH: '/usr/bin:/bin' },
  })
  const stderr = new Response(program.stderr).text()
  let peak = 0
  while (program.exitCode === null) {
    peak = Math.max(peak, peakOf(program.pid))
    await Promise.race([program.exited, Bun.sleep(25)])
  }
  if ((await program.exited) !== 0) throw new Error(`petstore ${args.join(' ')} failed: ${await stderr}`)
  return { seconds: (performance.now() - startedAt) / 1_000, peakMegabytes: Math.round(peak / 1_000) }
}

function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Tries to take the write lock until the import has ended. Returns the longest wait for the lock in milliseconds. */
async function longestLockWait(path: string, hasEnded: () => boolean): Promise<number> {
  const database = new Database(path)
  database.run('PRAGMA busy_timeout = 0')
  let longest = 0
  let lockedSince: number | undefined
  while (!hasEnded()) {
    try {
      database.run('BEGIN IMMEDIATE')
      database.run('ROLLBACK')
      lockedSince = undefined
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error
      lockedSince ??= performance.now()
      longest = Math.max(longest, performance.now() - lockedSince)
    }
    await Bun.sleep(2)
  }
  database.close()
  return longest
}

async function measureImport(
  label: string,
  file: string,
  database: string,
  command: readonly string[] = ['import'],
): Promise<void> {
  await openSqliteStore(database).close()
  let hasEnded = false
  const lockWait = longestLockWait(database, () => hasEnded)
  const { seconds, peakMegabytes } = await run(...command, file, '--database-url', `sqlite:${database}`)
  hasEnded = true
  report(label, seconds, peakMegabytes, `${Math.round(await lockWait)} ms locked`)
}

function report(label: string, seconds: number, peakMegabytes: number, more = ''): void {
  const rate = Math.round(rows / seconds).toLocaleString('en-US')
  console.log(
    `${label.padEnd(34)} ${seconds.toFixed(1).padStart(6)} s ${rate.padStart(9)} rows/s ${String(peakMegabytes).padStart(5)} MB  ${more}`,
  )
}

await writeCsv(pathOf('pets.csv'))
await measureImport('import, all new', pathOf('pets.csv'), pathOf('a.db'))
await measureImport('import, no difference', pathOf('pets.csv'), pathOf('a.db'))
await writeCsv(pathOf('pets.csv'), { changed: 10 })
await measureImport('import, 10 quantities different', pathOf('pets.csv'), pathOf('a.db'))
await writeCsv(pathOf('pets.csv'), { changed: rows })
await measureImport('import, all quantities different', pathOf('pets.csv'), pathOf('a.db'))
const adjust = ['adjust', '--reason', 'received']
await writeChanges(pathOf('changes.csv'), 'petId,delta', () => 1)
await measureImport('adjust, a delta for every pet', pathOf('changes.csv'), pathOf('a.db'), adjust)
await writeChanges(pathOf('changes.csv'), 'petId,quantity', (row) => (row % 1_000) + (row <= 10 ? 0 : 2))
await measureImport('import of a count, 10 different', pathOf('changes.csv'), pathOf('a.db'))
await writeCsv(pathOf('pets.csv'), { shuffled: true })
await measureImport('import, all new, ids in random order', pathOf('pets.csv'), pathOf('b.db'))

for (const format of ['csv', 'jsonl']) {
  const [first, second] = [pathOf(`one.${format}`), pathOf(`two.${format}`)]
  const from = ['--format', format, '--database-url', `sqlite:${pathOf('b.db')}`]
  const exported = await run('export', first, ...from)
  report(`export, ${format}`, exported.seconds, exported.peakMegabytes)
  await measureImport(`import into an empty store, ${format}`, first, pathOf(`c.${format}.db`))
  await run('export', second, '--format', format, '--database-url', `sqlite:${pathOf(`c.${format}.db`)}`)
  const isSame = Buffer.compare(readFileSync(first), readFileSync(second)) === 0
  console.log(`the export after that import is ${isSame ? 'identical' : 'NOT IDENTICAL'}`)
  if (!isSame) process.exitCode = 1
}
