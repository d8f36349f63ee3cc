import { Option } from 'commander'
import { type Config, flagOf, readConfig, SETTINGS, type SettingName, variableOf } from '../service/config.ts'
import { openStore } from '../store/open-store.ts'
import type { OpenOptions, TablesMode } from '../store/opening.ts'
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

/**
 * Opens the database that the flags and the environment name, for as long as the work takes. Only `serve` and
 * `migrate` bring older tables up to date, since an older service may run on them; of the others those that have
 * something to do in a new database make the tables where there are none.
 */
export async function withStore<Result>(
  flags: SettingFlags,
  tables: TablesMode,
  work: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(flags)
  const store = await openConfigured(config, { tables })
  try {
    return await work(store, config)
  } finally {
    await store.close()
  }
}
