// The commands that back up, restore and upgrade a whole database.
import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Config, readConfig } from '../../service/config.ts'
import { findInterruptedRestore, isPostgresUrl, restoreStore } from '../../store/open-store.ts'
import { type PetstoreCommand, type SettingFlags, throwUsageError } from '../arguments.ts'
import {
  describeFullDisk,
  openByteSource,
  withTemporaryFile,
  writeNewFile,
  writeToFile,
  writeToStdout,
} from '../files.ts'
import { failureText, quoteForShell, runInterruptible } from '../terminal.ts'
import { databaseName, openConfiguredStore, withStore } from '../with-store.ts'

interface RestoreFlags extends SettingFlags {
  readonly newIdentity?: true
}

export function addBackupCommands(program: PetstoreCommand): void {
  program
    .command('backup')
    .description(
      'Write a snapshot of the whole database to a new file, even while the service is running, and check the file. petstore restore restores it.',
    )
    .argument('<file>', 'path of the new file, which must not exist, or - for standard output')
    .databaseSettings()
    .action(backUp)
  program
    .command('restore')
    .description(
      'Restore a backup while the service is stopped. The backup is checked first; the replaced database is kept under another name.',
    )
    .argument(
      '[file]',
      'a file that petstore backup wrote, - for standard input, or a database that a restore replaced',
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
  if (path === '-') return backUpToStdout(flags)
  await withStore(flags, 'require_current_tables', async ({ store, database }) => {
    await writeNewFile(path, { advice: 'choose another name' }, (file) => store.backupTo(file))
    console.log(
      `Wrote ${path} (${megabytesOf(path)} MB), a copy of ${database}, and checked it. It contains key hashes: protect it like the database.`,
    )
  })
}

/** SQLite can write a consistent copy only to a file, so the copy is written to a temporary file first. */
async function backUpToStdout(flags: SettingFlags): Promise<void> {
  if (process.stdout.isTTY)
    throwUsageError('standard output is a terminal; redirect it to a file: petstore backup - > FILE')
  await runInterruptible('the output is not a complete backup', (signal) =>
    withTemporaryFile(async (temporary) => {
      const database = await withStore(flags, 'require_current_tables', async (opened) => {
        await opened.store.backupTo(temporary)
        return opened.database
      })
      if (!(await writeToStdout(openByteSource(temporary, signal).chunks, signal))) {
        throw new Error('standard output was closed before the backup was complete')
      }
      console.error(
        `Wrote a copy of ${database} (${megabytesOf(temporary)} MB) to standard output. It contains key hashes: protect it like the database.`,
      )
    }),
  )
}

function megabytesOf(path: string): string {
  return (statSync(path).size / 1_000_000).toFixed(1)
}

async function restore(file: string | undefined, flags: RestoreFlags): Promise<void> {
  if ((file === undefined) === (flags.newIdentity === undefined)) {
    throwUsageError('give either the file to restore or --new-identity')
  }
  if (file === undefined) await renewIdentity(flags)
  else await restoreFile(file, flags)
}

async function restoreFile(file: string, flags: RestoreFlags): Promise<void> {
  const config = readConfig(flags)
  const database = databaseName(config)
  if (isPostgresUrl(config.databaseUrl)) {
    console.log(postgresSteps(file === '-' ? 'FILE' : file))
    throw new Error(`restore ${database} with the tools of PostgreSQL, as shown above; nothing was changed`)
  }
  if (file === '-') {
    if (process.stdin.isTTY)
      throwUsageError('standard input is a terminal; redirect it from a file: petstore restore - < FILE')
    await runInterruptible('nothing was changed', (signal) =>
      withTemporaryFile(async (temporary) => {
        await writeToFile(temporary, openByteSource(file, signal).chunks, signal)
        restoreAndReport(temporary, 'standard input', config)
      }),
    )
  } else restoreAndReport(resolve(file), file, config)
}

/** `path` is the backup, and `source` is its name in messages. */
function restoreAndReport(path: string, source: string, config: Config): void {
  // Only SQLite databases are restored here, and their name is the path of the file.
  const database = databaseName(config)
  const { replaced, hasOlderTables } = restoreDatabase(path, source, config)
  console.log(`Restored ${database} (${megabytesOf(database)} MB) from ${source}, and checked it.`)
  if (replaced !== undefined) {
    console.log(
      `The replaced database is kept as ${replaced}. To undo: petstore restore ${quoteForShell(replaced)}`,
    )
  }
  if (hasOlderTables)
    console.log('The restored tables are from an older version: petstore serve upgrades them.')
}

function restoreDatabase(path: string, source: string, config: Config): ReturnType<typeof restoreStore> {
  try {
    return restoreStore(path, config.databaseUrl)
  } catch (error) {
    const message = failureText(error).replaceAll(path, source)
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
