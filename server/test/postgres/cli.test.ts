import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../cli/run-command.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-databases.ts'

setDefaultTimeout(120_000)

const CSV = `petId,name,categoryId,status,quantity,barcode,lowStockAt,metadata,category
-9223372036854775808,"A ""quoted"" name, ключ",1,available,5,,,,Dogs
7,Biscuit,2,sold,0,4006381333931,3,,'=Cats
9223372036854775807,Last,3,pending,9007199254740991,,0,,Birds
`

let database: TestDatabase
let cwd: string
beforeAll(async () => {
  database = await createDatabase()
  cwd = mkdtempSync(join(tmpdir(), 'petstore-cli-'))
  writeFileSync(join(cwd, 'pets.csv'), CSV)
})
afterAll(async () => {
  await database.drop()
  rmSync(cwd, { recursive: true, force: true })
})

async function run(...args: string[]): Promise<string> {
  const outcome = await runCommand(args, { cwd, env: { DATABASE_URL: database.url } })
  expect([outcome.exitCode, outcome.stderr]).toEqual([0, expect.any(String)])
  return outcome.stdout
}

describe('the command line on PostgreSQL', () => {
  test('creates the tables, and says so again', async () => {
    expect(await run('migrate')).toContain('up to date')
    expect(await run('migrate')).toContain('up to date')
  })

  test('imports, and exports the same bytes', async () => {
    expect(await run('import', 'pets', 'pets.csv')).toContain('3 pets added')
    expect(await run('import', 'pets', 'pets.csv')).toContain('3 unchanged')
    expect(await run('export')).toBe(CSV)
    writeFileSync(join(cwd, 'more.csv'), CSV.replace('sold,0', 'available,12'))
    expect(await run('import', 'pets', 'more.csv', '--dry-run')).toContain('1 changed')
    expect(await run('import', 'pets', 'more.csv')).toContain('1 changed')
  })

  test('checks the database, and reports why it cannot be reached', async () => {
    expect(await run('check')).toContain('the database is intact')
    const away = database.url.replace(/:\d+\//, ':1/')
    const outcome = await runCommand(['check', '--database-url', away])
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stdout).toContain('cannot open the database')
  })

  test('refers to pg_dump for backups', async () => {
    const outcome = await runCommand(['backup', 'copy.db'], { cwd, env: { DATABASE_URL: database.url } })
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stderr).toContain('pg_dump')
  })

  test('copies the store to SQLite and back, with the same content at the end', async () => {
    const tagOf = (text: string) => /ETag (\S+)/.exec(text)?.[1]
    const there = await run('copy', '--from', database.url, '--to', 'sqlite:copy.db')
    const again = await createDatabase()
    const back = await run('copy', '--from', 'sqlite:copy.db', '--to', again.url)
    expect(tagOf(there)).toBeString()
    expect(tagOf(back)).toBe(tagOf(there) as string)
    expect(await run('export', '--database-url', again.url)).toBe(await run('export'))
    const changes = "SELECT pet_id::int, before::int, after::int FROM log WHERE kind = 'change'"
    expect(await again.run(changes)).toEqual([{ pet_id: 7, before: 0, after: 12 }])
    const refused = await runCommand(['copy', '--from', 'sqlite:copy.db', '--to', again.url], { cwd })
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('not empty')])
    const missing = await runCommand(['copy', '--from', 'sqlite:none.db', '--to', again.url], { cwd })
    expect([missing.exitCode, missing.stderr]).toEqual([
      1,
      expect.stringContaining(`no database at ${join(cwd, 'none.db')};`),
    ])
    await again.drop()
  })
})
