import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../src/store/postgres/store.ts'
import { PostgresServer } from './postgres-server.ts'

/** Where the tests' PostgreSQL is: one that somebody runs, or one of our own for the whole test run. */
const GIVEN = Bun.env.TEST_POSTGRES_URL
// Beyond the modules: each test file may have them anew.
const shared = globalThis as { petstorePostgres?: Promise<PostgresServer>; petstoreTables?: Promise<string> }
const isGiven = GIVEN !== undefined && GIVEN !== ''

async function serverUrl(): Promise<string> {
  if (isGiven) return GIVEN
  shared.petstorePostgres ??= PostgresServer.start()
  return (await shared.petstorePostgres).url()
}

/** A database of its own on the tests' PostgreSQL. */
export interface TestDatabase {
  readonly url: string
  /** Runs SQL beside the service, as an operator would. */
  run(sql: string): Promise<readonly Record<string, unknown>[]>
  drop(): Promise<void>
}

export interface PostgresDatabase extends TestDatabase {
  /** A connection for the caller alone, to be closed. */
  connect(): Bun.SQL
}

/** Without tables. */
export async function createDatabase(template = 'template0'): Promise<PostgresDatabase> {
  const server = await serverUrl()
  const name = `petstore_${crypto.randomUUID().replaceAll('-', '')}`
  await once(server, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
  const url = new URL(server)
  url.pathname = name
  return {
    url: url.href,
    run: (sql) => once(url.href, sql),
    connect: () => connect(url.href),
    drop: async () => {
      await once(server, `DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

/**
 * For who has nothing to do with how tables are made: a copy of a database that has them, with a log of its own. On a
 * server that somebody runs nothing is left behind, so whoever opens it makes them.
 */
export async function createReadyDatabase(): Promise<PostgresDatabase> {
  if (isGiven) return createDatabase()
  shared.petstoreTables ??= makeTables()
  const database = await createDatabase(await shared.petstoreTables)
  await database.run('UPDATE log_state SET identity = gen_random_uuid()')
  return database
}

async function makeTables(): Promise<string> {
  const { url } = await createDatabase()
  const store = await openPostgresStore(url, DEFAULT_POSTGRES_SETTINGS)
  await store.close()
  return new URL(url).pathname.slice(1)
}

function connect(url: string): Bun.SQL {
  const { username, password, hostname, port, pathname } = new URL(url)
  return new Bun.SQL({
    ...{ adapter: 'postgres', username, password, hostname, port, database: pathname.slice(1), max: 1 },
  })
}

async function once(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = connect(url)
  try {
    return await client.unsafe(sql)
  } finally {
    await client.close()
  }
}
