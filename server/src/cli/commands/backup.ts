// The commands that back up, restore and upgrade a whole database.
import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Config, readConfig } from '../../service/config.ts'
import {
  findInterruptedRestore,
  isPostgresUrl,
  type RestoreResult,
  restoreStore,
} from '../../store/open-store.ts'
import {
  type PetstoreCommand,
  type SettingFlags,
  type TimeResolver,
  throwUsageError,
  timeParser,
} from '../arguments.ts'
import { describeFullDisk, writeNewFile } from '../files.ts'
import { failureText, quoteForShell } from '../terminal.ts'
import { databaseName, openConfiguredStore, withStore } from '../with-store.ts'

interface RestoreFlags extends SettingFlags {
  readonly newIdentity?: true
  readonly at?: TimeResolver
}

export function addBackupCommands(program: PetstoreCommand): void {
  program
    .command('backup')
    .description(
      'Write a snapshot of the whole database to a new file, even while the service is running, and check the file. petstore restore restores it.',
    )
    .argument('<file>', 'path of the new file, which must not exist')
    .databaseSettings()
    .action(backUp)
  program
    .command('restore')
    .description(
      'Restore a backup while the service is stopped. The backup is checked first; the replaced database is kept under another name.',
    )
    .argument(
      '[backup]',
      'a file that petstore backup wrote, a database that a restore replaced, or the folder of petstore serve --backup-to',
    )
    .argument('[file]', 'the database to restore to, instead of DATABASE_URL')
    .option(
      '--at <time>',
      'restore the last state of the folder at this time: 2027-01-31T17:00:00Z, or 15m for 15 minutes ago',
      timeParser('past', '--at'),
    )
    .option(
      '--new-identity',
      'only give the database a new identity, so that clients that follow events read the whole list again; use this after a restore with another tool, such as pg_restore',
    )
    .databaseSettings()
    .action(restore)
  program
    .command('migrate')
    .description(
      'Create or upgrade the tables. petstore serve does this at startup. Use this command if the database role of the service is not allowed to change tables.',
    )
    .databaseSettings()
    .action(migrate)
}

async function backUp(path: string, flags: SettingFlags): Promise<void> {
  await withStore(flags, 'require_current_tables', async ({ store, database }) => {
    await writeNewFile(path, { advice: 'choose another name' }, (file) => store.backupTo(file))
    console.log(
      `Wrote ${path} (${megabytesOf(path)} MB), a copy of ${database}, and checked it. It contains key hashes: protect it like the database.`,
    )
  })
}

function megabytesOf(path: string): string {
  return (statSync(path).size / 1_000_000).toFixed(1)
}

async function restore(
  backup: string | undefined,
  target: string | undefined,
  flags: RestoreFlags,
): Promise<void> {
  if ((backup === undefined) === (flags.newIdentity === undefined)) {
    throwUsageError('give either the backup to restore or --new-identity')
  }
  if (backup === undefined) await renewIdentity(flags)
  else restoreFile(backup, target === undefined ? flags : { ...flags, databaseUrl: `sqlite:${target}` })
}

function restoreFile(file: string, { at, ...flags }: RestoreFlags): void {
  const config = readConfig(flags)
  if (at !== undefined && statSync(file, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throwUsageError('--at needs the folder of petstore serve --backup-to')
  }
  const database = databaseName(config)
  if (isPostgresUrl(config.databaseUrl)) {
    console.log(postgresSteps(file))
    throw new Error(`restore ${database} with the tools of PostgreSQL, as shown above; nothing was changed`)
  }
  const { replaced, hasOlderTables, rebuilt } = restoreDatabase(file, config, at?.(Date.now()))
  console.log(`Restored ${database} (${megabytesOf(database)} MB) from ${file}, and checked it.`)
  if (rebuilt !== undefined) console.log(describeRebuilt(rebuilt))
  if (replaced !== undefined) {
    console.log(
      `The replaced database is kept as ${replaced}. To undo: petstore restore ${quoteForShell(replaced)}`,
    )
  }
  if (hasOlderTables)
    console.log('The restored tables are from an older version: petstore serve upgrades them.')
}

function describeRebuilt({ lastChange, notes }: NonNullable<RestoreResult['rebuilt']>): string {
  const end =
    lastChange === undefined
      ? 'It has no changes.'
      : `Its last change is number ${lastChange.id}, made at ${new Date(lastChange.at).toISOString()}.`
  return [end, ...notes.map((note) => `Note: ${note}.`)].join('\n')
}

function restoreDatabase(
  file: string,
  config: Config,
  at: number | undefined,
): ReturnType<typeof restoreStore> {
  const path = resolve(file)
  try {
    return restoreStore(path, config.databaseUrl, at)
  } catch (error) {
    const message = failureText(error).replaceAll(path, file)
    const reason = describeFullDisk(error, dirname(databaseName(config))) ?? message
    const staged = findInterruptedRestore(config.databaseUrl)
    const effect =
      staged === undefined
        ? 'Nothing was changed'
        : `The restore was interrupted in its last step; finish it with petstore restore ${quoteForShell(staged)}`
    throw new Error(`cannot restore: ${reason}. ${effect}`, { cause: error })
  }
}

/** The same steps as in docs/backup.md. */
function postgresSteps(file: string): string {
  return `Stop all instances, then run:

pg_dump --format=custom --file=before-restore.dump "$DATABASE_URL"
pg_restore --clean --if-exists --no-owner --single-transaction --dbname="$DATABASE_URL" ${quoteForShell(file)}
petstore restore --new-identity

pg_dump saves the current contents. After these commands, start the instances again.`
}

async function renewIdentity(flags: RestoreFlags): Promise<void> {
  const config = readConfig(flags)
  const store = await openConfiguredStore(config, { tables: 'require_current_tables', exclusive: true })
  try {
    await store.renewIdentity()
  } finally {
    await store.close()
  }
  console.log(
    `${databaseName(config)} has a new identity: clients that follow its events will read the whole list again.`,
  )
}

async function migrate(flags: SettingFlags): Promise<void> {
  await withStore(flags, 'migrate', async ({ store, database }) => {
    await store.ping()
    console.log(`The tables in ${database} are up to date.`)
  })
}
