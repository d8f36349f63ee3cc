import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../../src/core/values/version.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { sqliteDatabase } from '../support/test-database.ts'
import { petstore } from './petstore.ts'
import { serve } from './running-petstore.ts'

setDefaultTimeout(120_000)

const FIXTURES = join(import.meta.dir, '../fixtures')
/** The key "My shop" of the early store. */
const EARLY_SECRET = 'pst_live_zpphpodntKb56Ios3uR8iuCGh2V9UI2lZDxt'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-earlier-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function sqliteStore(name: string): Promise<TestDatabase> {
  const path = join(folder, `${name}-${crypto.randomUUID()}.db`)
  cpSync(join(FIXTURES, `${name}-sqlite.db`), path)
  // A checkout is readable by everybody, which doctor reports.
  chmodSync(path, 0o600)
  return sqliteDatabase(path)
}

async function postgresStore(name: string): Promise<TestDatabase> {
  const database = await createDatabase()
  await database.run(readFileSync(join(FIXTURES, `${name}-postgres.sql`), 'utf8'))
  return database
}

const DATABASES = [
  ['SQLite', sqliteStore],
  ['PostgreSQL', postgresStore],
] as const

const run = (url: string, ...args: string[]) => petstore(args, { cwd: folder, env: { DATABASE_URL: url } })

async function output(url: string, ...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run(url, ...args)
  expect([exitCode, stderr]).toEqual([0, ''])
  return stdout
}

/** The lines of an export, which may warn about barcodes on standard error. */
async function exported(url: string): Promise<string[]> {
  const { exitCode, stdout } = await run(url, 'export')
  expect(exitCode).toBe(0)
  return stdout.split('\n')
}

describe.each(DATABASES)('a store of the development version before 1.0 on %s', (database, load) => {
  let early: TestDatabase
  beforeAll(async () => {
    early = await load('early')
  })
  afterAll(() => early.drop())

  test('is refused by commands that must not change tables, with the command that converts it', async () => {
    const { exitCode, stderr } = await run(early.url, 'export')
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/version 4, .* run petstore migrate/)])
  })

  test('is converted, and doctor finds no problem', async () => {
    await output(early.url, 'migrate')
    const { ok, checks } = JSON.parse(await output(early.url, 'doctor', '--json'))
    expect([ok, checks.filter(({ level }: { level: string }) => level === 'problem')]).toEqual([true, []])
  })

  test('keeps pets, orders and stock', async () => {
    // The last change of pet 3 was in the history only.
    const last = database === 'SQLite' ? 7 : 9
    expect((await exported(early.url)).slice(1)).toEqual([
      '-7,Betta,4,sold,0,,,Category 4',
      '1,Beagle puppy,1,available,2,,,Category 1',
      '2,"Käfig, groß",1,available,10,,,Category 1',
      `3,Siamese kitten,2,pending,${last},,,Category 2`,
      '9007199254740993,Discus,4,available,6,,,Category 4',
      '',
    ])
    expect((await output(early.url, 'export', '--orders')).split('\n').slice(1)).toEqual([
      '1,1,2,2026-09-01T10:00:00.000Z,false,,',
      '2,1,4,2026-09-02T10:00:00.000Z,false,,',
      '3,3,1,2026-09-03T10:00:00.000Z,true,,',
      '',
    ])
  })

  test('keeps keys, usage, bans and the record of commands', async () => {
    const keys = JSON.parse(await output(early.url, 'keys', 'list', '--json'))
    expect(
      keys.map(({ name, plan, permissions }: Record<string, unknown>) => [name, plan, permissions]),
    ).toEqual([
      ['My shop', 'pro', ['stock']],
      ['Reader', 'free', []],
      ['Big', 'enterprise', ['stock']],
    ])
    const shown = await output(early.url, 'keys', 'show', 'Big')
    expect(shown).toContain('5 a minute, 50 a day')
    expect(shown).toContain('2027-01-31')
    expect(shown).toContain('2026-11-17 22:24 to 2026-11-17 22:29')
    expect(await output(early.url, 'keys', 'show', 'My shop')).toContain('rotate by uid 0')
    const [usage] = await early.run(
      'SELECT sum(accepted) AS accepted, sum(rejected) AS rejected FROM usage_days',
    )
    expect([Number(usage?.accepted), Number(usage?.rejected)]).toEqual(
      database === 'SQLite' ? [11, 35] : [14, 35],
    )
    expect(keys.map(({ lastUsedAt }: Record<string, unknown>) => lastUsedAt)).toEqual([
      expect.stringMatching(/^2026-11-17T22:2[45]:/),
      expect.stringContaining('2026-11-17T22:24:'),
      expect.stringContaining('2026-11-17T22:24:'),
    ])
  })

  test('is served: an old key changes the stock, and the history continues', async () => {
    const { address, stop } = await serve([], { cwd: folder, env: { DATABASE_URL: early.url } })
    const response = await fetch(`${address}/v1/inventory/1`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${EARLY_SECRET}`, 'content-type': 'application/json' },
      body: '{"quantity":5}',
    })
    expect([response.status, await response.json()]).toEqual([
      200,
      expect.objectContaining({ petId: 1, quantity: 5 }),
    ])
    await stop()
    const added = 'petId,name,categoryId,status,quantity\n20,New,1,available,1\n'
    const { exitCode } = await petstore(['import', '-'], { env: { DATABASE_URL: early.url }, stdin: added })
    expect(exitCode).toBe(0)
  })
})

const RELEASES = readdirSync(FIXTURES).flatMap((name) => /^(\d.*)-sqlite\.db$/.exec(name)?.[1] ?? [])

test('there is a store of this release', () => {
  expect(RELEASES).toContain(VERSION)
})

describe.each(RELEASES)('a store of release %s', (release) => {
  test.each([
    [
      'SQLite',
      async () => {
        const { url, ...database } = sqliteDatabase(join(folder, `${release}.db`))
        await output(url, 'restore', join(FIXTURES, `${release}-sqlite.db`))
        return { url, ...database }
      },
    ],
    ['PostgreSQL', () => postgresStore(release)],
  ])('is opened on %s', async (_, load) => {
    const { url, drop, run: query } = await load()
    await output(url, 'migrate')
    expect(JSON.parse(await output(url, 'doctor', '--json')).ok).toBe(true)
    expect((await exported(url)).slice(1)).toEqual([
      '1,Beagle puppy,1,available,2,4006381333931,,Dogs',
      '2,"Käfig, groß",1,pending,6,,4,Dogs',
      '',
    ])
    expect(await output(url, 'export', '--categories')).toContain('1,Dogs,2\n2,Cats,\n')
    expect(await output(url, 'export', '--orders')).toContain('Ada')
    const keys = JSON.parse(await output(url, 'keys', 'list', '--json'))
    expect(keys.map(({ name, state }: Record<string, unknown>) => [name, state])).toEqual([
      ['Shop', 'active'],
      ['Reader', 'paused'],
    ])
    expect(await query('SELECT id FROM webhooks')).toHaveLength(1)
    const changes = await query("SELECT before, after FROM log WHERE kind = 'change' AND pet_id = 2")
    expect(changes.map(({ before, after }) => [Number(before), Number(after)])).toEqual([[10, 6]])
    await drop()
  })
})

test('a backup of the development version before 1.0 can be restored', async () => {
  const { url } = await sqliteStore('early')
  const target = `sqlite:${join(folder, 'restored.db')}`
  await output(target, 'restore', url.slice('sqlite:'.length))
  expect(await output(target, 'export')).toContain('Käfig')
})
