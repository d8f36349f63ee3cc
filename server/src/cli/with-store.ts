import { existsSync } from 'node:fs'
import { type Config, readConfig } from '../service/config.ts'
import { openStore } from '../store/open-store.ts'
import { type OpenOptions, type TablesMode, withoutPassword } from '../store/opening.ts'
import type { Store } from '../store/store.ts'
import type { SettingFlags } from './arguments.ts'

/** The caller closes the store. */
export function openConfigured(config: Config, options: OpenOptions): Promise<Store> {
  return openStore(config.databaseUrl, options, {
    poolSize: config.pgPoolSize,
    connectTimeoutSeconds: config.pgConnectTimeoutSeconds,
    statementTimeoutSeconds: config.pgStatementTimeoutSeconds,
  })
}

/** The name of the database in messages: the path of a file, or an address without its password. */
export function databaseName({ databaseUrl }: Pick<Config, 'databaseUrl'>): string {
  return withoutPassword(databaseUrl).replace(/^sqlite:/, '')
}

export function isMissingFile({ databaseUrl }: Pick<Config, 'databaseUrl'>): boolean {
  return databaseUrl.startsWith('sqlite:') && !existsSync(databaseUrl.slice('sqlite:'.length))
}

/**
 * Opens the database that the flags and the environment name, and closes it after the work. Only `serve` and `migrate` upgrade
 * older tables, since an older service may be using them. Only these, `import` and the target of `copy` create a missing
 * database: other commands would create an empty store wherever they are started by mistake.
 */
export async function withStore<Result>(
  flags: SettingFlags,
  tables: TablesMode,
  work: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(flags)
  const isNew = tables !== 'expect' && isMissingFile(config)
  // Commands that expect tables can also run on a read-only standby, such as an export.
  const store = await openConfigured(config, { tables, mayBeReadOnly: tables === 'expect' })
  if (isNew) console.error(`petstore: created a new database, ${databaseName(config)}`)
  try {
    return await work(store, config)
  } finally {
    await store.close()
  }
}
