import { existsSync } from 'node:fs'
import { type Config, readConfig } from '../service/config.ts'
import { openStore } from '../store/open-store.ts'
import { type OpenOptions, type TablesMode, withoutPassword } from '../store/opening.ts'
import type { Store } from '../store/store.ts'

/** The caller closes the store. */
export function openConfiguredStore(config: Config, options: OpenOptions): Promise<Store> {
  return openStore(config.databaseUrl, options, { poolSize: config.pgPoolSize })
}

/** Names the database in messages: by the path of its file, or by its address without the password. */
export function databaseName({ databaseUrl }: Pick<Config, 'databaseUrl'>): string {
  return withoutPassword(databaseUrl).replace(/^sqlite:/, '')
}

export function isDatabaseFileMissing({ databaseUrl }: Pick<Config, 'databaseUrl'>): boolean {
  return databaseUrl.startsWith('sqlite:') && !existsSync(databaseUrl.slice('sqlite:'.length))
}

export interface OpenedStore {
  readonly store: Store
  readonly config: Config
  /** The name of the database in messages. */
  readonly database: string
}

/**
 * Opens the configured database, and closes it after the work. Most commands do not upgrade older tables, because an older
 * service may be using them: only `serve` and `migrate` do. Most commands do not create a missing database either, because
 * they may run in the wrong folder: only `serve`, `migrate`, `import` and `copy` do.
 */
export async function withStore<Result>(
  flags: Parameters<typeof readConfig>[0],
  tables: TablesMode,
  work: (opened: OpenedStore) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(flags)
  const isNew = tables !== 'require_current_tables' && isDatabaseFileMissing(config)
  // Commands that do not create tables, such as export, may also run on a read-only standby.
  const store = await openConfiguredStore(config, {
    tables,
    mayBeReadOnly: tables === 'require_current_tables',
  })
  const database = databaseName(config)
  if (isNew) console.error(`petstore: created a new database, ${database}`)
  try {
    return await work({ store, config, database })
  } finally {
    await store.close()
  }
}
