import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../src/store/postgres/store.ts'
import { PostgresServer } from './postgres-server.ts'

/** The tests' PostgreSQL: a given one, or our own for the whole test run. */
const GIVEN = Bun.env.TEST_POSTGRES_URL
// Global, because each test file may load the modules again.
const shared = globalThis as { petstorePostgres?: Promise<PostgresServer>; petstoreTables?: Promise<string> }
const isGiven = GIVEN !== undefined && GIVEN !== ''

async function serverUrl(): Promise<string> {
  if (isGiven) return GIVEN
  shared.petstorePostgres ??= PostgresServer.start()
  return (await shared.petstorePostgres).url()
}

/** A new database on the tests' PostgreSQL. */
export interface TestDatabase {
  readonly url: string
  /** Runs SQL without the service, as an operator would. */
  run(sql: string): Promise<readonly Record<string, unknown>[]>
  drop(): Promise<void>
}

export interface PostgresDatabase extends TestDatabase {
  /** A separate connection, which the caller must close. */
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
 * For tests that are not about migrations: a copy of a database with tables, with its own log. On a given
 * server nothing may be left behind, so the first store that opens it creates the tables.
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
    adapter: 'postgres',
    username,
    password,
    hostname,
    port,
    database: pathname.slice(1),
    max: 1,
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
