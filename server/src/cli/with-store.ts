import { existsSync } from 'node:fs'
import { Option } from 'commander'
import { type Config, flagOf, readConfig, SETTINGS, type SettingName, variableOf } from '../service/config.ts'
import { openStore } from '../store/open-store.ts'
import { type OpenOptions, type TablesMode, withoutPassword } from '../store/opening.ts'
import type { Store } from '../store/store.ts'

export type SettingFlags = Partial<Record<SettingName, string>>

/** A setting as a flag of a command. */
export function setting(name: SettingName): Option {
  const { fallback, help } = SETTINGS[name]
  return new Option(`${flagOf(name)} <value>`, `${help} (${variableOf(name)}, default ${fallback || 'none'})`)
}

/** The database of these settings, which the caller closes. */
export function openConfigured(config: Config, options: OpenOptions): Promise<Store> {
  return openStore(config.databaseUrl, options, {
    poolSize: config.pgPoolSize,
    connectTimeoutSeconds: config.pgConnectTimeoutSeconds,
    statementTimeoutSeconds: config.pgStatementTimeoutSeconds,
  })
}

/** The database as people are told of it: a file by its path, an address without its password. */
export function databaseName({ databaseUrl }: Pick<Config, 'databaseUrl'>): string {
  return withoutPassword(databaseUrl).replace(/^sqlite:/, '')
}

/** Whether it is a SQLite file that is not there yet. */
export function isMissingFile({ databaseUrl }: Pick<Config, 'databaseUrl'>): boolean {
  return databaseUrl.startsWith('sqlite:') && !existsSync(databaseUrl.slice('sqlite:'.length))
}

/**
 * Opens the database that the flags and the environment name, for as long as the work takes. Only `serve` and
 * `migrate` bring older tables up to date, since an older service may run on them; beside these only `import` makes a
 * database where there is none, and `copy` the one that it is told to copy to. All others would make an empty store
 * wherever they are started by mistake.
 */
export async function withStore<Result>(
  flags: SettingFlags,
  tables: TablesMode,
  work: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(flags)
  const isNew = tables !== 'expect' && isMissingFile(config)
  // Whoever needs tables that are there may only read: an export from a standby.
  const store = await openConfigured(config, { tables, mayBeReadOnly: tables === 'expect' })
  if (isNew) console.error(`petstore: made a new database, ${databaseName(config)}`)
  try {
    return await work(store, config)
  } finally {
    await store.close()
  }
}
