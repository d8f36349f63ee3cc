// Which tables of a database a command accepts, creates or migrates. Every command opens its database through the same gate.
import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TablesMode } from '../../src/store/opening.ts'
import { createDatabase } from '../support/postgres-databases.ts'
import { commandNames, runCommand } from './run-command.ts'

interface Tables {
  readonly url: string
  run(sql: string): Promise<unknown>
  /** SQL that sets the version number of the database. */
  setVersion(version: number): string
  /** The version number, the names and the columns of all tables. */
  definitions(): Promise<unknown>
  /** The version of the tables of 1.1.0. */
  readonly versionOf110: number
  drop(): Promise<void>
}

let cwd: string
beforeAll(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'petstore-tables-')))
  writeFileSync(join(cwd, 'pets.csv'), 'petId,name,categoryId,status,quantity\n1,Biscuit,1,sold,4\n')
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const run = (databaseUrl: string, command: string) =>
  runCommand(command.split(' '), { cwd, env: { DATABASE_URL: databaseUrl } })

async function onSqlite(name: string = crypto.randomUUID()): Promise<Tables> {
  const path = join(cwd, `${name}.db`)
  const query = async (sql: string) => {
    using database = new Database(path)
    return database.query(sql).all()
  }
  return {
    url: `sqlite:${path}`,
    run: async (sql) => {
      using database = new Database(path)
      database.run(sql)
    },
    setVersion: (version) => `PRAGMA user_version = ${version}`,
    definitions: () =>
      query('SELECT user_version, name, sql FROM pragma_user_version LEFT JOIN sqlite_schema'),
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
    definitions: async () => [
      await database.run(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2",
      ),
      await database.run('SELECT number FROM migrations').catch(() => undefined),
    ],
    versionOf110: 9,
  }
}

/** A command for each mode of the gate. */
const COMMAND_OF: Readonly<Record<TablesMode, string>> = {
  require_current_tables: 'export',
  create_if_missing: 'import pets pets.csv',
  migrate: 'migrate',
}
const ALL_MODES = Object.keys(COMMAND_OF) as TablesMode[]

describe.each([
  ['SQLite', () => onSqlite()],
  ['PostgreSQL', onPostgres],
])('on %s', (_, create) => {
  let tables: Tables
  beforeEach(async () => {
    tables = await create()
  })
  afterEach(() => tables.drop())

  async function expectRefusal(expected: RegExp, modes = ALL_MODES): Promise<void> {
    const before = await tables.definitions()
    for (const mode of modes) {
      const { exitCode, stdout, stderr } = await run(tables.url, COMMAND_OF[mode])
      expect([mode, exitCode, stdout]).toEqual([mode, 1, ''])
      expect(stderr).toMatch(/^petstore: cannot open the database .*\n$/)
      expect(stderr).toMatch(expected)
    }
    expect(await tables.definitions()).toEqual(before)
  }

  test('older tables are only migrated by commands that may', async () => {
    await run(tables.url, 'migrate')
    await tables.run(tables.setVersion(tables.versionOf110))
    await expectRefusal(/run petstore migrate, or start petstore serve/, [
      'require_current_tables',
      'create_if_missing',
    ])
  })

  test('tables with a higher number but missing columns may be older: the message names both cases', async () => {
    await run(tables.url, 'migrate')
    await tables.run('ALTER TABLE stock RENAME COLUMN low_at TO threshold')
    await tables.run(tables.setVersion(99))
    await expectRefusal(
      /stock\.low_at is missing: this program does not know version 99 .* a newer version or another program .* start the program that made the tables, restore a backup/,
    )
  })

  test('tables of this version with missing columns are refused, and so are those of 1.1', async () => {
    await run(tables.url, 'migrate')
    await tables.run('ALTER TABLE stock RENAME COLUMN low_at TO threshold')
    await tables.run('ALTER TABLE orders RENAME COLUMN ship_date TO shipped')
    const refusal =
      /(stock\.low_at, orders\.ship_date|orders\.ship_date, stock\.low_at) are missing: .* restore a backup/
    await expectRefusal(refusal)
    await tables.run(tables.setVersion(tables.versionOf110))
    await expectRefusal(refusal)
  })

  test('tables of a version that no release made are refused and left as they are', async () => {
    await tables.run('CREATE TABLE notes (text text)')
    await tables.run(tables.setVersion(8))
    await expectRefusal(/no release made tables of version \d: .* export them with it and import the files/)
  })

  test('tables of another program are recognised although their version is that of a release', async () => {
    await tables.run('CREATE TABLE notes (text text)')
    await tables.run(tables.setVersion(tables.versionOf110))
    await expectRefusal(/the tables are not those of this program, .* and \d+ more are missing/)
  })

  test('tables of another program without a version are left alone, except by commands that migrate', async () => {
    await tables.run('CREATE TABLE notes (text text)')
    await expectRefusal(/has no tables of this program/, ['require_current_tables', 'create_if_missing'])
  })

  test('additional columns are accepted', async () => {
    await run(tables.url, 'migrate')
    await tables.run('ALTER TABLE stock ADD COLUMN shelf text')
    for (const mode of ALL_MODES) expect((await run(tables.url, COMMAND_OF[mode])).exitCode).toBe(0)
  })
})

describe('on PostgreSQL', () => {
  test('an empty database gets tables from petstore import, but not from commands that expect them', async () => {
    const empty = await onPostgres()
    for (const command of ['export', 'keys revoke a --yes', 'check']) {
      const { exitCode, stdout, stderr } = await run(empty.url, command)
      expect([exitCode, stdout + stderr]).toEqual([
        1,
        expect.stringContaining('has no tables of this program'),
      ])
    }
    expect(await empty.definitions()).toEqual([[], undefined])
    expect((await run(empty.url, 'import pets pets.csv')).exitCode).toBe(0)
    expect((await run(empty.url, 'check')).exitCode).toBe(0)
    await empty.drop()
  })

  test("another program's migrations table is recognised", async () => {
    const foreign = await onPostgres()
    await foreign.run('CREATE TABLE migrations (id serial, name text, batch integer)')
    const { exitCode, stderr } = await run(foreign.url, 'migrate')
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/belongs to another program, which has its own table "migrations"/),
    ])
    await foreign.drop()
  })
})

/** Every command that opens a database, with what it may do to the tables. */
const COMMANDS: readonly (readonly [command: string, mode: TablesMode])[] = [
  ['serve --port 0', 'migrate'],
  ['migrate', 'migrate'],
  ['import pets pets.csv', 'create_if_missing'],
  ['export', 'require_current_tables'],
  ['keys list', 'require_current_tables'],
  ['keys create --name a --plan free', 'require_current_tables'],
  ['keys revoke a --yes', 'require_current_tables'],
  ['history prune --keep 1 --yes', 'require_current_tables'],
  ['backup copy.db', 'require_current_tables'],
  ['restore --new-identity', 'require_current_tables'],
  ['copy --to sqlite:fresh.db', 'require_current_tables'],
  // It creates a file only if --to names it.
  ['copy --from sqlite:current.db', 'require_current_tables'],
  ['check', 'require_current_tables'],
]

describe('every command', () => {
  beforeAll(() => run('sqlite:current.db', 'migrate'))

  async function tablesOfVersion(choose: (tables: Tables) => number): Promise<Tables> {
    const name = crypto.randomUUID()
    copyFileSync(join(cwd, 'current.db'), join(cwd, `${name}.db`))
    const tables = await onSqlite(name)
    await tables.run(tables.setVersion(choose(tables)))
    return tables
  }

  test('is in this table, except those that open no database of DATABASE_URL', () => {
    const withoutTest = commandNames().filter(
      (name) => !COMMANDS.some(([command]) => command.startsWith(name)),
    )
    expect(withoutTest).toEqual(['follow', 'health'])
  })

  async function expectRefusal(command: string, databaseUrl: string, expected: RegExp): Promise<void> {
    const { exitCode, stdout, stderr } = await run(databaseUrl, command)
    expect(stdout + stderr).toMatch(expected)
    expect([exitCode, stderr.trimEnd().split('\n')]).toEqual([1, [expect.stringMatching(/^petstore: /)]])
    for (const name of ['copy.db', 'fresh.db']) expect(existsSync(join(cwd, name))).toBe(false)
  }

  test.each(COMMANDS.filter(([, mode]) => mode !== 'migrate'))(
    '%s changes no older tables, and prints what to do',
    async (command) => {
      const older = await tablesOfVersion(({ versionOf110 }) => versionOf110)
      const before = await older.definitions()
      await expectRefusal(
        command,
        older.url,
        /cannot open the database .*run petstore migrate, or start petstore serve/,
      )
      expect(await older.definitions()).toEqual(before)
    },
  )

  test.each(COMMANDS.filter(([, mode]) => mode === 'require_current_tables'))(
    '%s does not create a missing file, and prints its path',
    async (command) => {
      const folder = crypto.randomUUID()
      const path = join(cwd, folder, 'none.db')
      await expectRefusal(command, `sqlite:${folder}/none.db`, new RegExp(`there is no database at ${path}`))
      expect(existsSync(join(cwd, folder))).toBe(false)
    },
  )
})

test('a missing file is reported with how to create it', async () => {
  const { stderr } = await run('sqlite:none/none.db', 'export')
  expect(stderr).toMatch(/set DATABASE_URL .* run petstore serve, import, copy or migrate\n$/)
})

test('copy does not create a database that only a default or DATABASE_URL names, and says how to name it', async () => {
  const path = join(cwd, 'none', 'none.db')
  await run('sqlite:source.db', 'migrate')
  expect(await run('sqlite:none/none.db', 'copy --from sqlite:source.db')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `petstore: there is no database at ${path}; to create it, add --to sqlite:${path}\n`,
  })
  expect((await run('', `copy --from sqlite:source.db --to sqlite:${path}`)).exitCode).toBe(0)
})
