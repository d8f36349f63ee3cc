import { PostgresServer } from '../server/test/support/postgres-server.ts'
import { SERVER_CORE } from './processes.ts'

/** As PostgreSQL itself comes, where the tests have it otherwise. */
const DEFAULTS = { fsync: 'on', max_connections: '100' }

/**
 * On a disk, which /tmp need not be. It takes turns with the server that it works for on one core, as an embedded
 * database does: the other one is for wrk alone.
 */
const PLACE = { parent: '/var/tmp', launcher: `taskset -c ${SERVER_CORE}` }

let server: Promise<PostgresServer> | undefined

/** A new database on the PostgreSQL of this run, which is started for the first who asks. Gives its address. */
export async function createPostgresDatabase(name: string): Promise<string> {
  server ??= PostgresServer.start(DEFAULTS, PLACE)
  const started = await server
  await using sql = new Bun.SQL(started.url(), { max: 1 })
  await sql`CREATE DATABASE ${sql(name)} TEMPLATE template0`
  return started.url(name)
}

/** Leaves the tables as they are after a while of use, so that autovacuum does not do it in the midst of a round. */
export async function vacuum(url: string): Promise<void> {
  await using sql = new Bun.SQL(url, { max: 1 })
  await sql`VACUUM (ANALYZE)`
}

/** It would end with this process anyway; nothing else is to be measured beside it. */
export async function endPostgres(): Promise<void> {
  const started = await server
  server = undefined
  await started?.end()
}
