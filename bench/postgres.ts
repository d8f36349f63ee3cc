import { PostgresServer } from '../server/test/support/postgres-server.ts'
import type { StoreOptions } from './cases.ts'
import { WrongResponse } from './checks.ts'

/** The defaults of PostgreSQL, which the tests change, and connections for two targets of four instances. */
const SETTINGS = { fsync: 'on', max_connections: '200' }
const PROBES = 20

let starting: Promise<PostgresServer> | undefined

/**
 * Creates a database and returns its address. With a single instance PostgreSQL shares the core of the server that uses
 * it, as an embedded database does, and wrk has the other core. Its files are in /var/tmp, because /tmp may be in memory.
 */
export async function createPostgresDatabase(name: string, { cores }: StoreOptions): Promise<string> {
  starting ??= PostgresServer.start(SETTINGS, { parent: '/var/tmp', launcher: `taskset -c ${cores}` })
  const server = await starting
  await using sql = new Bun.SQL(server.url(), { max: 1 })
  await sql`CREATE DATABASE ${sql(name)} TEMPLATE template0`
  return server.url(name)
}

/** So that autovacuum does not run during a round. */
export async function vacuum(url: string): Promise<void> {
  await using sql = new Bun.SQL(url, { max: 1 })
  await sql`VACUUM (ANALYZE)`
}

/** Makes PostgreSQL wait before it flushes a commit, in all its databases, and checks that a commit takes that long. */
export async function delayCommits(milliseconds: number): Promise<void> {
  const server = await starting
  if (server === undefined) throw new Error('PostgreSQL is not running')
  await using sql = new Bun.SQL(server.url(), { max: 1 })
  const microseconds = String(milliseconds * 1000)
  await sql.unsafe(`ALTER SYSTEM SET commit_delay = ${microseconds}`)
  // By default PostgreSQL waits only if five other transactions are open.
  await sql.unsafe('ALTER SYSTEM SET commit_siblings = 0')
  await sql`SELECT pg_reload_conf()`
  const inForce = () =>
    sql`SELECT setting FROM pg_settings WHERE name = 'commit_delay' AND setting = ${microseconds}`
  while ((await inForce()).length === 0) await Bun.sleep(10)
  await sql`CREATE TABLE IF NOT EXISTS commit_probe (number integer)`
  const durations: number[] = []
  for (let number = 0; number < PROBES; number++) {
    const began = performance.now()
    await sql`INSERT INTO commit_probe (number) VALUES (${number})`
    durations.push(performance.now() - began)
  }
  await sql`DROP TABLE commit_probe`
  const shortest = Math.min(...durations)
  if (shortest >= milliseconds) return
  throw new WrongResponse(
    `a commit took ${shortest.toFixed(2)} ms although commit_delay is ${milliseconds} ms`,
  )
}

/** Stops the server, so that it does not run during other measurements. */
export async function stopPostgres(): Promise<void> {
  const server = await starting
  starting = undefined
  await server?.end()
}
