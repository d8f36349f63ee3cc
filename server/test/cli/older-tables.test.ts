import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type PostgresDatabase } from '../support/postgres-databases.ts'
import { petstore } from './petstore.ts'

setDefaultTimeout(120_000)

/** A database whose version number is that of 1.1.0. */
interface OlderDatabase {
  readonly url: string
  version(): Promise<unknown>
}

let cwd: string
let server: PostgresDatabase
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-older-'))
  writeFileSync(join(cwd, 'pets.csv'), 'petId,name,categoryId,status,quantity\n1,Biscuit,1,sold,4\n')
  server = await createDatabase()
})
afterAll(async () => {
  await server.drop()
  rmSync(cwd, { recursive: true, force: true })
})

const run = (url: string, ...args: string[]) => petstore(args, { cwd, env: { DATABASE_URL: url } })

async function olderFile(): Promise<OlderDatabase> {
  const path = join(cwd, 'older.db')
  const query = (sql: string) => {
    const database = new Database(path)
    const [row] = database.query<{ user_version: number }, []>(sql).all()
    database.close()
    return row?.user_version ?? 0
  }
  await run(`sqlite:${path}`, 'import', 'pets.csv')
  query('PRAGMA user_version = 7')
  return { url: `sqlite:${path}`, version: async () => query('PRAGMA user_version') }
}

async function olderServer(): Promise<OlderDatabase> {
  await run(server.url, 'import', 'pets.csv')
  await server.run('UPDATE migrations SET number = 9')
  return { url: server.url, version: () => server.run('SELECT number FROM migrations ORDER BY number') }
}

describe.each([
  ['SQLite', olderFile],
  ['PostgreSQL', olderServer],
])('on older tables in %s', (_, make) => {
  let older: OlderDatabase
  beforeAll(async () => {
    older = await make()
  })

  test.each([
    'keys list',
    'keys create --name a --plan free',
    'keys revoke a --yes',
    'history prune --keep 1 --yes',
    'export',
    'backup copy.db',
    'import pets.csv',
    'copy --to sqlite:fresh.db',
    'copy --from sqlite:other.db',
    'check',
  ])('petstore %s changes nothing and prints what to do', async (command) => {
    if (command.includes('other.db')) await run('sqlite:other.db', 'import', 'pets.csv')
    const before = await older.version()
    const { exitCode, stdout, stderr } = await run(older.url, ...command.split(' '))
    expect(stdout + stderr).toMatch(
      /cannot open the database .*run petstore migrate, or start petstore serve/,
    )
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(exitCode).toBe(1)
    expect(await older.version()).toEqual(before)
    expect(existsSync(join(cwd, 'copy.db'))).toBe(false)
  })
})

describe('a PostgreSQL database without tables', () => {
  test('gets them from petstore import, but not from other commands', async () => {
    const empty = await createDatabase()
    const tables = () => empty.run("SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace")
    for (const command of [['export'], ['keys', 'revoke', 'a', '--yes'], ['check']]) {
      const { exitCode, stdout, stderr } = await run(empty.url, ...command)
      expect([exitCode, stdout + stderr]).toEqual([
        1,
        expect.stringContaining('has no tables of this program'),
      ])
    }
    expect(await tables()).toHaveLength(0)
    expect((await run(empty.url, 'import', 'pets.csv')).exitCode).toBe(0)
    expect((await run(empty.url, 'check')).exitCode).toBe(0)
    await empty.drop()
  })

  test('with tables of another program is left alone by petstore import', async () => {
    const foreign = await createDatabase()
    await foreign.run('CREATE TABLE something (id integer)')
    const { exitCode, stderr } = await run(foreign.url, 'import', 'pets.csv')
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('has no tables of this program')])
    await foreign.drop()
  })
})

test('a SQLite file with tables of another program is left alone by petstore import', async () => {
  const database = new Database(join(cwd, 'notes.db'))
  database.run('CREATE TABLE notes (text TEXT)')
  const { exitCode, stderr } = await run('sqlite:notes.db', 'import', 'pets.csv')
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('has no tables of this program')])
  expect(database.query('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'notes' }])
  database.close()
})

test('a missing SQLite file is created only by serve, import and migrate; other commands print its path', async () => {
  const commands = [
    ...['export', 'history prune --keep 1 --yes', 'keys create --name a --plan free', 'keys list'],
    ...['keys revoke a --yes', 'backup copy.db', 'restore --new-identity', 'copy --to sqlite:fresh.db'],
  ]
  const outcomes = await Promise.all(
    commands.map((command) =>
      petstore(command.split(' '), {
        cwd,
        env: { DATABASE_URL: 'sqlite:none/none.db' },
      }),
    ),
  )
  const path = join(cwd, 'none', 'none.db')
  for (const outcome of outcomes) {
    expect(outcome).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining(`no database at ${path};`),
    })
    expect(outcome.stderr).toMatch(/set DATABASE_URL .* run petstore serve, import, copy or migrate\n$/)
  }
  expect([existsSync(join(cwd, 'none')), existsSync(join(cwd, 'fresh.db'))]).toEqual([false, false])
})

test('copy does not create a database that only a default or DATABASE_URL names, and says how to name it', async () => {
  await run('sqlite:source.db', 'migrate')
  const path = join(cwd, 'none', 'none.db')
  const copied = (...args: string[]) =>
    petstore(['copy', '--from', 'sqlite:source.db', ...args], {
      cwd,
      env: { DATABASE_URL: 'sqlite:none/none.db' },
    })
  expect(await copied()).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `petstore: there is no database at ${path}; to create it, add --to sqlite:${path}\n`,
  })
  expect(existsSync(join(cwd, 'none'))).toBe(false)
  expect((await copied('--to', `sqlite:${path}`)).exitCode).toBe(0)
})
