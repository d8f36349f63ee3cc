import { PostgresServer } from '../server/test/support/postgres-server.ts'
import { WrongAnswer } from './checks.ts'
import { SERVER_CORE } from './processes.ts'
import { spreadOf } from './statistics.ts'

/**
 * As PostgreSQL itself comes, where the tests have it otherwise; but for twice the connections, since two targets of
 * four instances are connected at once, of which one is paused.
 */
const SETTINGS = { fsync: 'on', max_connections: '200' }

/** By the cores that they are pinned to. */
const servers = new Map<string, Promise<PostgresServer>>()

/**
 * A new database on a PostgreSQL of this run, which is started for the first who asks, on a disk, which /tmp need not be.
 * Where nothing is said of cores it takes turns with the server that it works for on one core, as an embedded database
 * does: the other one is for wrk alone. Gives its address.
 */
export async function createPostgresDatabase(name: string, cores: string = SERVER_CORE): Promise<string> {
  const starting =
    servers.get(cores) ??
    PostgresServer.start(SETTINGS, { parent: '/var/tmp', launcher: `taskset -c ${cores}` })
  servers.set(cores, starting)
  const server = await starting
  await using sql = new Bun.SQL(server.url(), { max: 1 })
  await sql`CREATE DATABASE ${sql(name)} TEMPLATE template0`
  return server.url(name)
}

/** Leaves the tables as they are after a while of use, so that autovacuum does not do it in the midst of a round. */
export async function vacuum(url: string): Promise<void> {
  await using sql = new Bun.SQL(url, { max: 1 })
  await sql`VACUUM (ANALYZE)`
}

const PROBES = 20

/**
 * Has PostgreSQL wait for so long before it writes commits to disk, for all its databases, and sees that each commit of
 * one connection takes that long. Gives the median time of a commit in milliseconds.
 */
export async function delayCommits(url: string, milliseconds: number): Promise<number> {
  await using sql = new Bun.SQL(url, { max: 1 })
  await sql.unsafe(`ALTER SYSTEM SET commit_delay = ${milliseconds * 1000}`)
  // Else it waits only where five others have a transaction under way, which one connection never has.
  await sql.unsafe('ALTER SYSTEM SET commit_siblings = 0')
  await sql`SELECT pg_reload_conf()`
  const wanted = `${milliseconds * 1000}`
  const inForce = () =>
    sql`SELECT setting FROM pg_settings WHERE name = 'commit_delay' AND setting = ${wanted}`
  while ((await inForce()).length === 0) await Bun.sleep(10)
  await sql`CREATE TABLE IF NOT EXISTS commit_probe (number integer)`
  const times: number[] = []
  for (let number = 0; number < PROBES; number++) {
    const began = performance.now()
    await sql`INSERT INTO commit_probe (number) VALUES (${number})`
    times.push(performance.now() - began)
  }
  await sql`DROP TABLE commit_probe`
  const { min, median } = spreadOf(times)
  if (min < milliseconds) {
    throw new WrongAnswer(
      `a commit took ${min.toFixed(2)} ms with a delay of ${milliseconds} ms: PostgreSQL did not wait`,
    )
  }
  return median
}

/** They would end with this process anyway; nothing else is to be measured beside them. */
export async function endPostgres(): Promise<void> {
  const started = await Promise.all(servers.values())
  servers.clear()
  await Promise.all(started.map((server) => server.end()))
}
