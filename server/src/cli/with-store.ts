import type { Command } from 'commander'
import {
  type Config,
  flagOf,
  postgresSettings,
  readConfig,
  SETTINGS,
  type SettingName,
} from '../service/config.ts'
import { openStore } from '../store/open-store.ts'
import type { TablesMode } from '../store/opening.ts'
import type { Store } from '../store/store.ts'

export type SettingFlags = Partial<Record<SettingName, string>>

/** Lets a command take settings as flags, described as `serve --help` describes them. */
export function addSettings(command: Command, ...names: readonly SettingName[]): Command {
  for (const name of names) {
    const { variable, fallback, help } = SETTINGS[name]
    command.option(`${flagOf(name)} <value>`, `${help} (${variable}, default ${fallback})`)
  }
  return command
}

/**
 * Opens the database that the flags and the environment name, for as long as the work takes. One that has no tables
 * yet gets them; only `serve` and `migrate` bring older ones up to date, since an older service may run on them.
 */
export async function withStore<Result>(
  flags: SettingFlags,
  work: (store: Store, config: Config) => Promise<Result>,
  tables: TablesMode = 'make_if_none',
): Promise<Result> {
  const config = readConfig(flags)
  const store = await openStore(config.databaseUrl, { tables }, postgresSettings(config))
  try {
    return await work(store, config)
  } finally {
    await store.close()
  }
}

/** Like `withStore`, for commands that have nothing to do in a database that is only just made. */
export function withExistingStore<Result>(
  flags: SettingFlags,
  work: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
  return withStore(flags, work, 'expect')
}
