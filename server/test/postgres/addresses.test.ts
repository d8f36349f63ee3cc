import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { openStore } from '../../src/store/open-store.ts'
import { hostText, readAddress, sessionSettings } from '../../src/store/postgres/connection-options.ts'
import { DEFAULT_POSTGRES_SETTINGS } from '../../src/store/postgres/store.ts'
import { petstore } from '../cli/petstore.ts'
import { createReadyDatabase, type PostgresDatabase } from '../support/postgres-databases.ts'

setDefaultTimeout(120_000)

const hostsOf = (url: string) => readAddress(url).hosts.map(hostText)

describe('an address of PostgreSQL', () => {
  test.each([
    ['postgres://db/shop', ['db:5432']],
    ['postgresql://me:p%40ss@db:6000/shop', ['db:6000']],
    ['postgres:///shop', ['localhost:5432']],
    ['postgres://one,two:6000,three/shop', ['one:5432', 'two:6000', 'three:5432']],
    ['postgres://one,two/shop?port=6000', ['one:6000', 'two:6000']],
    ['postgres:///shop?host=one,two&port=6000,6001', ['one:6000', 'two:6001']],
    ['postgres://[::1]:6000,[fe80::1]/shop', ['[::1]:6000', '[fe80::1]:5432']],
    ['postgres:///shop?host=/run/postgresql', ['/run/postgresql/.s.PGSQL.5432']],
    ['postgres://me@%2Frun%2Fpostgresql:6000/shop', ['/run/postgresql/.s.PGSQL.6000']],
    ['postgres://db/shop?target_session_attrs=read-write', ['db:5432']],
    ['postgres://db/shop?application_name=a@b', ['db:5432']],
    ['postgres://me:p?ss@db/shop', ['db:5432']],
  ])('%s names the hosts %j', (url, hosts) => {
    expect(hostsOf(url)).toEqual(hosts)
  })

  test('has its other parts decoded', () => {
    expect(readAddress('postgres://a%20b:p:@@one,two/my%20shop?sslmode=require')).toMatchObject({
      username: 'a b',
      password: 'p:@',
      database: 'my shop',
    })
    expect(readAddress('postgres://db')).toMatchObject({
      username: 'postgres',
      password: '',
      database: 'postgres',
    })
  })

  test.each([
    ['postgres://db/shop?user=me@work&password=p@s%26+', 'me@work', 'p@s&+'],
    ['postgres://you:other@db/shop?user=me&password=secret', 'me', 'secret'],
    ['postgres://me@db/shop?password=secret', 'me', 'secret'],
  ])('%s has the user and the password of its query', (url, username, password) => {
    expect(readAddress(url)).toMatchObject({ username, password, database: 'shop' })
    expect(hostsOf(url)).toEqual(['db:5432'])
  })

  test.each([
    ['postgres://one,,two/shop', 'host 2 of 3 is empty'],
    ['postgres://one,two/shop?port=1,2,3', '2 hosts and 3 ports'],
    ['postgres://one:x,two/shop', 'the port of "one:x" must be a number from 1 to 65535'],
    ['postgres://::1/shop', 'write an IPv6 address in brackets'],
    ['postgres://db/shop?target_session_attrs=any', 'must be read-write or primary'],
    ['mysql://db/shop', 'must be like postgres://'],
  ])('%s is rejected: %s', async (url, reason) => {
    expect(() => readAddress(url)).toThrow(reason)
    await expect(openStore(url, { tables: 'require_current_tables' })).rejects.toThrow(reason)
  })
})

describe('an unreachable database', () => {
  let database: PostgresDatabase
  let address: URL
  beforeAll(async () => {
    database = await createReadyDatabase()
    address = new URL(database.url)
  })
  afterAll(() => database.drop())

  const failure = async (url: string) => {
    const outcome = await openStore(url, { tables: 'require_current_tables' }).catch(
      (error: unknown) => error,
    )
    return outcome instanceof Error ? outcome.message : 'it was opened'
  }

  test('is reported with the reason: a closed port, an unknown host, no socket, another database', async () => {
    expect(await failure('postgres://postgres@127.0.0.1:1/shop')).toContain(
      '127.0.0.1:1: nothing listens there (the port is closed); check DATABASE_URL and that PostgreSQL runs there',
    )
    expect(await failure('postgres://postgres@no-such-host.invalid/shop')).toMatch(
      /no-such-host\.invalid:5432: (?:no host has that name|the host name cannot be resolved)/,
    )
    expect(await failure('postgres:///shop?host=/nowhere')).toContain(
      '/nowhere/.s.PGSQL.5432: the socket does not exist',
    )
    expect(await failure(database.url.replace(/[^/]+$/, 'other'))).toContain(
      'database "other" does not exist',
    )
    const both = await failure(`postgres://postgres@127.0.0.1:1,${address.host}/other`)
    expect(both).toContain('127.0.0.1:1: nothing listens')
    expect(both).toContain(`${address.host}: database "other" does not exist`)
  })

  test('is found if another host of the list is reachable', async () => {
    const store = await openStore(database.url.replace(address.host, `127.0.0.1:1,${address.host}`), {
      tables: 'require_current_tables',
    })
    await store.ping()
    expect(await store.findWrongSettings()).toEqual([])
    await store.close()
  })

  test('is found by the program too, with the list in its environment', async () => {
    const list = database.url.replace(address.host, `127.0.0.1:1,${address.host}`)
    const { exitCode, stderr } = await petstore(['keys', 'list'], { env: { DATABASE_URL: list } })
    expect([exitCode, stderr]).toEqual([0, ''])
  })

  test('is reached as its own address says, whatever the environment says', async () => {
    const env = { DATABASE_URL: 'postgres://elsewhere/shop?sslmode=require' }
    const { exitCode, stderr } = await petstore(['keys', 'list', '--database-url', database.url], { env })
    expect([exitCode, stderr]).toEqual([0, ''])
  })

  test('settings that a pooler drops are reported, JIT among them', async () => {
    const pooled = await throughPooler(database.url)
    const [report] = await pooled.store.findWrongSettings()
    expect(report).toContain('statement_timeout is 0 instead of 10000')
    expect(report).toContain('idle_in_transaction_session_timeout is 0 instead of 10000')
    expect(report).toContain('jit is on instead of off')
    expect(report).toContain('ALTER ROLE')
    await pooled.close()
  })

  test('the role settings of docs/scaling.md replace everything that a pooler drops', async () => {
    const guide = await Bun.file(join(import.meta.dir, '../../../docs/scaling.md')).text()
    const role = `petstore_${crypto.randomUUID().replaceAll('-', '')}`
    const settings = guide.match(/^ALTER ROLE petstore SET .*$/gm) ?? []
    await database.run(`CREATE ROLE ${role} SUPERUSER LOGIN`)
    await database.run(settings.join('\n').replaceAll('ROLE petstore', `ROLE ${role}`))
    const url = new URL(database.url)
    url.username = role
    const pooled = await throughPooler(url.href)
    expect(await pooled.store.findWrongSettings()).toEqual([])
    await pooled.close()
    await database.run(`DROP ROLE ${role}`)
    const ignored = /^ignore_startup_parameters = (.*)$/m.exec(guide)?.[1]?.split(',')
    expect(new Set(ignored)).toEqual(new Set(Object.keys(sessionSettings(DEFAULT_POSTGRES_SETTINGS))))
  })
})

/** A store whose connections go through a proxy that drops their settings. */
async function throughPooler(databaseUrl: string) {
  const url = new URL(databaseUrl)
  const proxy = await forgetfulProxy(Number(url.port))
  const address = proxy.address()
  url.port = typeof address === 'object' ? String(address?.port) : ''
  const store = await openStore(url.href, { tables: 'require_current_tables' })
  return {
    store,
    close: async () => {
      await store.close()
      proxy.close()
    },
  }
}

/**
 * Forwards everything except the startup settings of a client other than its name and database, like PgBouncer
 * with ignored parameters.
 */
async function forgetfulProxy(target: number): Promise<Server> {
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => {})
    near.once('data', (first) => {
      far.write(startupOf(Buffer.from(first)))
      near.pipe(far)
    })
    far.pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** The startup message without the settings: its length, the protocol version, then names and values. */
function startupOf(message: Buffer): Buffer {
  const words = message.subarray(8).toString().split('\0')
  const kept = ['user', 'database'].flatMap((name) => [name, words[words.indexOf(name) + 1] ?? ''])
  const text = Buffer.from(`${kept.join('\0')}\0\0`)
  const head = Buffer.from(message.subarray(0, 8))
  head.writeInt32BE(text.length + head.length)
  return Buffer.concat([head, text])
}
