import { ServiceError } from '../core/values/errors.ts'
import { withoutPassword } from './database-url.ts'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore, type PostgresSettings } from './postgres/store.ts'
import { troubleText } from './sqlite/failures.ts'
import { openSqliteStore } from './sqlite/store.ts'
import type { Store } from './store.ts'

export type { PostgresSettings } from './postgres/store.ts'

const SQLITE = 'sqlite:'

/** Opens what DATABASE_URL names, and makes or mends its tables. */
export async function openStore(
  databaseUrl: string,
  settings: PostgresSettings = DEFAULT_POSTGRES_SETTINGS,
): Promise<Store> {
  if (!canBeShared(databaseUrl)) return openSqlite(databaseUrl.slice(SQLITE.length))
  try {
    return await openPostgresStore(databaseUrl, settings)
  } catch (error) {
    const reason = error instanceof ServiceError ? error.cause : error
    throw new Error(
      `cannot open the database ${withoutPassword(databaseUrl)}: ${messageOf(reason)}; check DATABASE_URL and that PostgreSQL runs there`,
      { cause: error },
    )
  }
}

/** Whether several processes can serve from what DATABASE_URL names. */
export function canBeShared(databaseUrl: string): boolean {
  return !databaseUrl.startsWith(SQLITE)
}

function openSqlite(path: string): Store {
  try {
    return openSqliteStore(path)
  } catch (error) {
    throw new Error(`cannot open the database ${path}: ${troubleText(error)}`, { cause: error })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
