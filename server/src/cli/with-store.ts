import { existsSync } from 'node:fs'
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

/** Opens the database that the flags and the environment name, for as long as the work takes. */
export async function withStore<Result>(
  flags: SettingFlags,
  work: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(flags)
  const store = await openStore(config.databaseUrl, postgresSettings(config))
  try {
    return await work(store, config)
  } finally {
    await store.close()
  }
}

/** Like `withStore`, for commands that have nothing to do in a database that is only just made. */
export async function withExistingStore<Result>(
  flags: SettingFlags,
  work: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
  requireFile(readConfig(flags).databaseUrl)
  return withStore(flags, work)
}

/** Opening a SQLite file that is not there would make it. */
export function requireFile(databaseUrl: string): void {
  const path = databaseUrl.replace(/^sqlite:/, '')
  if (path !== databaseUrl && !existsSync(path)) {
    throw new Error(`there is no database at ${path}; --database-url or DATABASE_URL says where it is`)
  }
}
