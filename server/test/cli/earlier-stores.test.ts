import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { VERSION } from '../../src/core/values/version.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { sqliteDatabase } from '../support/test-database.ts'
import { runCommand } from './run-command.ts'
import { serve } from './running-petstore.ts'

setDefaultTimeout(120_000)

const FIXTURES = join(import.meta.dir, '../fixtures')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-earlier-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const fixture = (name: string) => gunzipSync(readFileSync(join(FIXTURES, `${name}.gz`)))
const newFile = () => sqliteDatabase(join(folder, `${crypto.randomUUID()}.db`))

async function sqliteStore(release: string): Promise<TestDatabase> {
  const database = newFile()
  const copy = join(folder, `${crypto.randomUUID()}.db`)
  writeFileSync(copy, fixture(`${release}-sqlite.db`))
  await output(database.url, 'restore', copy)
  return database
}

async function postgresStore(release: string): Promise<TestDatabase> {
  const database = await createDatabase()
  await database.run(String(fixture(`${release}-postgres.sql`)))
  return database
}

const SQLITE_DEFINITIONS = `
  SELECT tables.name, columns.name AS column, columns.type, columns."notnull", columns.dflt_value, columns.pk
  FROM pragma_table_list AS tables JOIN pragma_table_info(tables.name) AS columns
  WHERE tables.type = 'table' AND tables.name <> 'sqlite_schema'
  UNION ALL
  SELECT name, sql, type, NULL, NULL, NULL FROM sqlite_schema WHERE type IN ('index', 'trigger')
  ORDER BY 1, 2`

/** Functions are compared without their blanks, which a dump keeps as they were. */
const POSTGRES_DEFINITIONS = `
  SELECT table_name || '.' || column_name AS name, concat_ws(' ', data_type, collation_name, is_nullable, column_default) AS text
  FROM information_schema.columns WHERE table_schema = 'public'
  UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT proname, regexp_replace(prosrc, '\\s+', ' ', 'g') FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  ORDER BY 1, 2`

const DATABASES = [
  [
    'SQLite',
    {
      load: sqliteStore,
      create: async () => newFile(),
      definitions: (database: TestDatabase) => database.run(SQLITE_DEFINITIONS),
    },
  ],
  [
    'PostgreSQL',
    {
      load: postgresStore,
      create: () => createDatabase(),
      definitions: (database: TestDatabase) => database.run(POSTGRES_DEFINITIONS),
    },
  ],
] as const

const run = (url: string, ...args: string[]) => runCommand(args, { cwd: folder, env: { DATABASE_URL: url } })

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

const oldAnswer = (key: string, body: unknown) => {
  const answer = JSON.stringify({ status: 201, headers: { Location: '/1' }, body: JSON.stringify(body) })
  return `INSERT INTO idempotency (key_id, key, fingerprint, answer, at) VALUES ('key_a', '${key}', 'f', '${answer}', 1)`
}

/** A hold, remembered answers, and an attempt of a webhook, as a release before orders had lines has stored them. */
const OLDER_ORDERS = [
  "INSERT INTO orders (id, pet_id, quantity, state, created_at, expires_at) VALUES (3, 2, 1, 'open', 1, 8640000000000000)",
  'UPDATE stock SET reserved = 1 WHERE pet_id = 2',
  oldAnswer('order', { id: 1, petId: 2, quantity: 4, complete: false, state: 'open', customer: 'Ada' }),
  oldAnswer('batch', { orders: [{ id: 1, complete: false, customer: 'Ada' }] }),
  oldAnswer('pet', { id: 5, name: 'Rex' }),
  `INSERT INTO webhook_attempts (webhook_id, message_id, type, at, duration_ms, attempt, is_delivered, response)
    SELECT id, 'm', 'order.created', 1, 1, 1, true, 'Hello Ada' FROM webhooks`,
]

/** Fails unless each order has a line, and no table but that of the orders names a person. */
async function expectBaskets(query: TestDatabase['run']): Promise<void> {
  const lines = await query(
    `SELECT id, pet_id, quantity, order_lines.state, order_lines.hold_until AS until, adjustment_id AS sale
      FROM orders JOIN order_lines ON order_id = id ORDER BY id`,
  )
  expect(lines.map((line) => Object.values(line).map(String).join(' '))).toEqual([
    '1 2 4 complete null 10',
    '2 2 1 complete null null',
    '3 2 1 open 8640000000000000 null',
  ])
  const answers = await query('SELECT key, answer FROM idempotency ORDER BY key')
  expect(answers.map(({ key, answer }) => [key, JSON.parse(String(answer))])).toEqual([
    ['order', { status: 201, headers: { Location: '/1' }, orderId: '1' }],
    ['pet', { status: 201, headers: { Location: '/1' }, body: '{"id":5,"name":"Rex"}' }],
  ])
  const [logged] = await query('SELECT detail, order_id FROM log WHERE id = 11')
  expect(JSON.parse(String(logged?.detail))).toEqual({
    change: 'completed',
    state: 'complete',
    lines: [{ petId: '2', quantity: 4 }],
  })
  expect(Number(logged?.order_id)).toBe(1)
  const texts = await query('SELECT detail FROM log UNION ALL SELECT response FROM webhook_attempts')
  expect(JSON.stringify(texts)).not.toMatch(/Ada|By the door/)
}

const RELEASES = readdirSync(FIXTURES).flatMap((name) => /^(\d.*)-sqlite\.db\.gz$/.exec(name)?.[1] ?? [])

test('there is a store of this release', () => {
  expect(RELEASES).toContain(VERSION)
})

describe.each(RELEASES)('a store of release %s', (release) => {
  test.each(DATABASES)('is opened on %s, with its contents', async (_, database) => {
    const { url, drop, run: query } = await database.load(release)
    await query("DELETE FROM limit_windows WHERE key_id = (SELECT id FROM keys WHERE name = 'Shop')")
    await query("INSERT INTO limit_windows SELECT id, 0, 0, 0, 0, 0, 0, 1 FROM keys WHERE name = 'Shop'")
    await query(
      "INSERT INTO bans (key_id, number, began_at, ends_at) SELECT id, 9, 1, 8640000000000000 FROM keys WHERE name = 'Shop'",
    )
    // A caller's sale with the same reference.
    await query(
      "INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, reason, reference) VALUES (20, 'change', 1, 2, 2, 'available', 1795076544090, 'petstore', 'sold', 'order 1')",
    )
    for (const statement of OLDER_ORDERS) await query(statement)
    await output(url, 'migrate')
    expect(await output(url, 'check')).toContain('✓ the database is intact')
    await expectBaskets(query)
    expect((await exported(url)).slice(1)).toEqual([
      '1,Beagle puppy,1,available,2,4006381333931,,,Dogs',
      '2,"Käfig, groß",1,pending,6,,4,,Dogs',
      '',
    ])
    expect(await output(url, 'export', '--categories')).toContain('1,Dogs,2\n2,Cats,\n')
    expect(await output(url, 'export', '--orders')).toContain('Ada')
    const keys = JSON.parse(await output(url, 'keys', 'list', '--json'))
    expect(keys.map(({ name, state }: Record<string, unknown>) => [name, state])).toEqual([
      ['Shop', expect.stringMatching(/^banned until/)],
      ['Reader', 'paused'],
    ])
    expect(await query('SELECT id FROM webhooks')).toHaveLength(1)
    const facts = await query(
      'SELECT document, id, before, after, delta, counted, at FROM log WHERE document IS NOT NULL AND pet_id = 2 ORDER BY id',
    )
    const lines = facts.map(({ document, id, before, after, delta, counted }) => [
      document === id,
      ...[before, after, delta, counted].map((value) => (value === null ? null : Number(value))),
    ])
    expect(lines).toEqual([
      [true, 0, 10, null, 10],
      [true, 10, 6, -4, null],
    ])
    const sales = await query("SELECT id, order_id FROM log WHERE reference = 'order 1' ORDER BY id")
    expect(sales.map((sale) => `${sale.id} ${sale.order_id}`)).toEqual(['10 1', '20 null'])
    const [stock] = await query('SELECT counted_at, moved_at FROM stock WHERE pet_id = 2')
    expect(stock).toEqual({ counted_at: facts[0]?.at, moved_at: facts[1]?.at })
    await drop()
  })

  test.each(DATABASES)('gets the tables of a new database on %s', async (_, database) => {
    const [earlier, fresh] = [await database.load(release), await database.create()]
    await Promise.all([run(earlier.url, 'migrate'), run(fresh.url, 'migrate')])
    expect(await database.definitions(earlier)).toEqual(await database.definitions(fresh))
    await Promise.all([earlier.drop(), fresh.drop()])
  })

  test('is served: the history of the stock continues', async () => {
    const { url } = await sqliteStore(release)
    await output(url, 'migrate')
    const { stdout: secret } = await run(url, 'keys', 'create', '--name', 'New', '--plan', 'free')
    const { address, stop } = await serve([], { cwd: folder, env: { DATABASE_URL: url } })
    const response = await fetch(`${address}/v1/inventory/2`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${secret.trim()}`, 'content-type': 'application/json' },
      body: '{"quantity":5}',
    })
    expect([response.status, await response.json()]).toEqual([
      200,
      expect.objectContaining({ petId: 2, quantity: 5 }),
    ])
    await stop()
  })
})
