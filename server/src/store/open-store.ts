import { ServiceError } from '../core/values/errors.ts'
import { withoutPassword } from './database-url.ts'
import { type OpenOptions, OpenRefused } from './opening.ts'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore, type PostgresSettings } from './postgres/store.ts'
import { troubleText } from './sqlite/failures.ts'
import { openSqliteStore } from './sqlite/store.ts'
import type { Store } from './store.ts'

export type { PostgresSettings } from './postgres/store.ts'

const SQLITE = 'sqlite:'

/** Opens what DATABASE_URL names. */
export async function openStore(
  databaseUrl: string,
  options: OpenOptions,
  settings: PostgresSettings = DEFAULT_POSTGRES_SETTINGS,
): Promise<Store> {
  if (!canBeShared(databaseUrl)) return openSqlite(databaseUrl.slice(SQLITE.length), options)
  try {
    return await openPostgresStore(databaseUrl, settings, options.tables)
  } catch (error) {
    const reason = error instanceof ServiceError ? error.cause : error
    throw cannotOpen(
      withoutPassword(databaseUrl),
      reason,
      `${messageOf(reason)}; check DATABASE_URL and that PostgreSQL runs there`,
    )
  }
}

/** Whether several processes can serve from what DATABASE_URL names. */
export function canBeShared(databaseUrl: string): boolean {
  return !databaseUrl.startsWith(SQLITE)
}

async function openSqlite(path: string, options: OpenOptions): Promise<Store> {
  // Opening a file that is not there would make it.
  if (options.tables === 'expect' && !(await Bun.file(path).exists())) {
    throw new Error(`there is no database at ${path}; --database-url or DATABASE_URL says where it is`)
  }
  try {
    return openSqliteStore(path, options)
  } catch (error) {
    throw cannotOpen(path, error, troubleText(error))
  }
}

function cannotOpen(name: string, error: unknown, trouble: string): Error {
  const intro = `cannot open the database ${name}`
  return error instanceof OpenRefused
    ? new OpenRefused(`${intro}: ${error.message}`, { cause: error })
    : new Error(`${intro}: ${trouble}`, { cause: error })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
