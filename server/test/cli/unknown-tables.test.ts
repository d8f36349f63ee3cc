import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '../support/postgres-databases.ts'
import { petstore } from './petstore.ts'

setDefaultTimeout(120_000)

interface Tables {
  readonly url: string
  run(sql: string): Promise<readonly unknown[]>
  /** SQL that sets the version number of the database. */
  setVersion(version: number): string
  /** The version of the tables of 1.1.0. */
  readonly versionOf110: number
  drop(): Promise<void>
}

let cwd: string
let tables: Tables
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-unknown-'))
  writeFileSync(join(cwd, 'pets.csv'), 'petId,name,categoryId,status,quantity\n1,Biscuit,1,sold,4\n')
})
afterEach(async () => {
  await tables.drop()
  rmSync(cwd, { recursive: true, force: true })
})

const run = (...args: string[]) => petstore(args, { cwd, env: { DATABASE_URL: tables.url } })

async function onSqlite(): Promise<Tables> {
  const path = join(cwd, 'petstore.db')
  return {
    url: `sqlite:${path}`,
    run: async (sql) => {
      const database = new Database(path)
      database.run(sql)
      const rows = database.query('SELECT name, sql FROM sqlite_schema').all()
      database.close()
      return rows
    },
    setVersion: (version) => `PRAGMA user_version = ${version}`,
    versionOf110: 7,
    drop: async () => {},
  }
}

async function onPostgres(): Promise<Tables> {
  const database = await createDatabase()
  return {
    ...database,
    setVersion: (version) => `
      CREATE TABLE IF NOT EXISTS migrations (number integer);
      DELETE FROM migrations;
      INSERT INTO migrations (number) VALUES (${version})`,
    versionOf110: 9,
  }
}

/** Every command refuses the tables in one sentence, and none changes them. */
async function expectRefusal(expected: RegExp): Promise<void> {
  for (const command of [
    ['serve', '--port', '0'],
    ['migrate'],
    ['import', 'pets.csv'],
    ['export'],
    ['check'],
  ]) {
    const { exitCode, stdout, stderr } = await run(...command)
    const text = command[0] === 'check' ? stdout : stderr
    expect([command, exitCode, text]).toEqual([command, 1, expect.stringMatching(expected)])
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  }
}

describe.each([
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
])('on %s', (_, make) => {
  beforeEach(async () => {
    tables = await make()
  })

  test('tables of a newer version are refused: start the newer program', async () => {
    await run('migrate')
    await tables.run(tables.setVersion(99))
    await expectRefusal(/newer version \(99\) than this program knows \(\d+\); start the newer program/)
  })

  test('tables with a higher number but missing columns may be older: the message names both cases', async () => {
    await run('migrate')
    await tables.run('ALTER TABLE stock RENAME COLUMN low_at TO threshold')
    await tables.run(tables.setVersion(99))
    await expectRefusal(
      /stock\.low_at is missing: this program does not know version 99 .* a newer version or another program .* start the program that made the tables, restore a backup/,
    )
  })

  test('tables of this version with missing columns are refused, and so are those of 1.1', async () => {
    await run('migrate')
    await tables.run('ALTER TABLE stock RENAME COLUMN low_at TO threshold')
    await tables.run('ALTER TABLE orders RENAME COLUMN ship_date TO shipped')
    const refusal =
      /(stock\.low_at, orders\.ship_date|orders\.ship_date, stock\.low_at) are missing: .* restore a backup/
    await expectRefusal(refusal)
    await tables.run(tables.setVersion(tables.versionOf110))
    await expectRefusal(refusal)
  })

  test.each([1, 2, 4, 8])(
    'tables of version %d, which no release made, are refused and left as they are',
    async (version) => {
      await tables.run('CREATE TABLE notes (text text)')
      await tables.run(tables.setVersion(version))
      const before = await tables.run('SELECT 1')
      await expectRefusal(/no release made tables of version \d: .* export them with it and import the files/)
      expect(await tables.run('SELECT 1')).toEqual(before)
    },
  )

  test('tables of another program are recognised although their version is that of a release', async () => {
    await tables.run('CREATE TABLE notes (text text)')
    await tables.run(tables.setVersion(tables.versionOf110))
    await expectRefusal(/the tables are not those of this program, .* and \d+ more are missing/)
  })

  test('additional columns are accepted', async () => {
    await run('migrate')
    await tables.run('ALTER TABLE stock ADD COLUMN shelf text')
    expect((await run('check')).exitCode).toBe(0)
  })
})

test("on PostgreSQL, another program's migrations table is recognised", async () => {
  tables = await onPostgres()
  await tables.run('CREATE TABLE migrations (id serial, name text, batch integer)')
  await expectRefusal(/belongs to another program, which has its own table "migrations"/)
})
