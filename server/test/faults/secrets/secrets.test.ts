import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecret } from '../../../src/core/keys/api-key.ts'
import { withoutPassword } from '../../../src/store/opening.ts'
import { petstore } from '../../cli/petstore.ts'
import { serve } from '../../cli/running-petstore.ts'
import { createDatabase, type TestDatabase } from '../../support/postgres-databases.ts'
import { commandLinesOf } from './process-list.ts'

setDefaultTimeout(120_000)

const PASSWORD = 'swordfish-7391-nobody-may-see'

/** Everything that people other than the owner of a secret can see, by its source. */
class Traces {
  readonly #found: (readonly [where: string, text: string])[] = []

  add(where: string, text: string): void {
    this.#found.push([where, text])
  }

  /** Where the secret occurs, in clear text, percent-encoded or in base64. */
  placesOf(secret: string): string[] {
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]
    return this.#found.filter(([, text]) => forms.some((form) => text.includes(form))).map(([where]) => where)
  }

  get size(): number {
    return this.#found.reduce((sum, [, text]) => sum + text.length, 0)
  }
}

describe.each([['SQLite'], ['PostgreSQL']])('a service on %s reveals no secret', (kind) => {
  const traces = new Traces()
  const secrets: string[] = []
  let folder: string
  let database: TestDatabase | undefined
  let env: Record<string, string>

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'petstore-secrets-'))
    database = kind === 'PostgreSQL' ? await createDatabase() : undefined
    const url = database?.url.replace('postgres@', `postgres:${PASSWORD}@`) ?? 'sqlite:petstore.db'
    env = { DATABASE_URL: url, LOG_REQUESTS: 'all', METRICS_PORT: '0' }
    writeFileSync(join(folder, 'pets.csv'), 'petId,name,categoryId,status,quantity\n1,Biscuit,1,sold,4\n')
    await driveTheCommandLine()
    await driveTheService()
    if (database !== undefined) {
      const [dump] = await database.run("SELECT database_to_xml(true, false, '')::text AS dump")
      traces.add('the database', String(dump?.dump))
    }
    for (const name of readdirSync(folder))
      traces.add(`the file ${name}`, readFileSync(join(folder, name), 'latin1'))
  })
  afterAll(async () => {
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** `handsOver`: standard output is the secret itself. */
  async function run(
    args: readonly string[],
    { stdin = '', handsOver = false, address = '' } = {},
  ): Promise<string> {
    const given = address === '' ? env : { ...env, DATABASE_URL: address }
    const outcome = await petstore(args, { cwd: folder, env: given, stdin })
    traces.add(`petstore ${args.join(' ')}`, handsOver ? outcome.stderr : outcome.stdout + outcome.stderr)
    if (handsOver) secrets.push(outcome.stdout.trim())
    return outcome.stdout.trim()
  }

  async function driveTheCommandLine(): Promise<void> {
    await run(['import', 'pets', 'pets.csv'])
    const first = await run(['keys', 'create', '--name', 'Till', '--plan', 'pro'], { handsOver: true })
    await run(['keys', 'create', '--name', 'Owner', '--plan', 'pro', '--owner'], { handsOver: true })
    // All commands access stores in the same way, so the rest would show the same on both.
    if (kind === 'PostgreSQL') {
      await run(['check'])
      return
    }
    await Promise.all([
      run(['keys', 'list', '--json']),
      // A user may mistake the secret for the name of a key.
      run(['keys', 'revoke', first, '--yes']),
      run(['serve', '--port', 'x']),
      run(['backup', 'copy.db']),
      ...[`postgres://user:${PASSWORD}@127.0.0.1:1/x`, `postgres//user:${PASSWORD}@host/x`].map((address) =>
        run(['check'], { address }),
      ),
    ])
  }

  async function driveTheService(): Promise<void> {
    const running = await serve([], { cwd: folder, env })
    const [first = '', second = ''] = secrets
    const unknown = createSecret('production')
    secrets.push(unknown)
    const tell = async (path: string, init: RequestInit) => {
      const response = await fetch(running.address + path, init)
      traces.add(
        `the answer ${response.status} to ${init.method ?? 'GET'} ${path.slice(0, 20)}`,
        await response.text(),
      )
      return response.status
    }
    const bearer = (key: string) => ({ Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' })
    for (const key of [first, second, unknown]) {
      await tell('/v1/inventory', { headers: bearer(key) })
      await tell(`/v1/${key}`, { headers: bearer(first) })
      await tell(`/v1/inventory/${key}?key=${key}`, { headers: bearer(first) })
      await tell(`/v1/inventory/${key.replaceAll('_', '%5F')}`, { headers: bearer(first) })
      await tell(`/v1/catalog?cursor=${key}&limit=${key}`, { headers: bearer(first) })
      await tell('/v1/inventory', { headers: { Authorization: key, 'X-Request-Id': key, Cookie: key } })
      await tell('/v1/inventory', { headers: { Authorization: `Basic ${btoa(`x:${key}`)}` } })
      await tell('/v1/inventory/1', {
        method: 'PATCH',
        headers: bearer(key),
        body: JSON.stringify({ quantity: key }),
      })
      await tell('/v1/inventory/1', {
        method: 'PATCH',
        headers: { ...bearer(first), 'If-Match': key },
        body: '{}',
      })
      await tell('/v1/inventory/1', {
        method: 'PATCH',
        headers: { ...bearer(first), 'Content-Type': key },
        body: '{}',
      })
    }
    await tell('/v1/inventory/1', { method: 'PATCH', headers: bearer(second), body: '{"quantity":7}' })
    await tell('/v1/inventory/1/history', { headers: bearer(first) })
    if (database !== undefined) {
      await database.run('ALTER TABLE orders RENAME COLUMN ship_date TO away')
      expect(await tell('/v1/store/orders', { headers: bearer(first) })).toBe(500)
      await database.run('ALTER TABLE orders RENAME COLUMN away TO ship_date')
    }
    const metrics = /"metrics":"([^"]+)"/.exec(running.output())?.[1] ?? ''
    traces.add('the metrics', await (await fetch(metrics)).text())
    const lines = commandLinesOf(running.program.pid)
    expect(lines.length).toBe(1)
    for (const line of lines) traces.add('the list of processes', line)
    // The files that SQLite keeps next to the database are gone once it has stopped.
    for (const name of readdirSync(folder))
      traces.add(`the file ${name}, live`, readFileSync(join(folder, name), 'latin1'))
    await running.stop()
    traces.add('the log', running.output() + (await running.errors()))
  }

  test('no key: in no log, message, metric, process list or file', () => {
    expect(secrets).toHaveLength(3)
    for (const secret of secrets) {
      // The last characters are shown to recognise a key.
      expect(traces.placesOf(secret.slice(9, 25))).toEqual([])
      expect(traces.placesOf(secret)).toEqual([])
    }
  })

  test('no password of the database', () => {
    expect(traces.placesOf(PASSWORD)).toEqual([])
  })

  test('although all of them were in use', () => {
    expect(traces.size).toBeGreaterThan(15_000)
    expect(traces.placesOf('pst_live_[hidden]')).toContain('the log')
    expect(traces.placesOf('Biscuit').length).toBeGreaterThan(1)
    expect(traces.placesOf('Till').length).toBeGreaterThan(1)
    if (kind === 'PostgreSQL') expect(traces.placesOf(':***@')).toContain('the log')
  })
})

test.each([
  `postgres://user:${PASSWORD}@127.0.0.1:1/x`,
  `postgres://127.0.0.1:1/x?password=${PASSWORD}`,
  `host=127.0.0.1 port=1 password=${PASSWORD}`,
])(
  'a password in the arguments causes a warning, because every user of the machine can read arguments: %s',
  async (address) => {
    const { stderr } = await petstore(['check', '--database-url', address])
    expect(stderr).toContain('set DATABASE_URL instead')
    expect(stderr).not.toContain(PASSWORD)
  },
)

test.each([
  ['postgres://user:PW@host/x', 'postgres://user:***@host/x'],
  ['postgres://user:P@W:P/W@host/x', 'postgres://user:***@host/x'],
  ['postgres//user:PW@host/x', 'postgres//user:***@host/x'],
  ['postgres:user:PW@host', 'postgres:user:***@host'],
  ['user:PW@host', 'user:***@host'],
  ['postgres://us/er:PW@host', 'postgres://us/er:***@host'],
  ['postgres://host/x?user=a&password=PW&b=c', 'postgres://host/x?user=a&password=***&b=c'],
  ['postgres://host/x?user=a&password=P@W', 'postgres://host/x?user=a&password=***'],
  ['postgres://user:PW@host/x?password=P@W', 'postgres://user:***@host/x?password=***'],
  ['postgres://host:5432/x?password=P@W', 'postgres://host:5432/x?password=***'],
  ['host=db user=a password=PW dbname=x', 'host=db user=a password=***'],
  ["hostaddr=::1 password = 'P@W it''s' dbname=x", 'hostaddr=::1 password =***'],
  ['password=P&W#P host=db', 'password=***'],
  ['postgres://user@host/x', 'postgres://user@host/x'],
  ['postgres://host:5432/x', 'postgres://host:5432/x'],
  ['sqlite:data/petstore.db', 'sqlite:data/petstore.db'],
  ['sqlite:data/shop@home.db', 'sqlite:data/shop@home.db'],
])('the address %s is shown as %s', (address, shown) => {
  expect(withoutPassword(address)).toBe(shown)
})
