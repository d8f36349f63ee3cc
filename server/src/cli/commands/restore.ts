import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '../../service/config.ts'
import { canBeShared, restoreStore } from '../../store/open-store.ts'
import { wrongUse } from '../arguments.ts'
import { fullDiskText } from '../files.ts'
import { databaseName, openConfigured, type SettingFlags, setting } from '../with-store.ts'

interface Flags extends SettingFlags {
  readonly newIdentity?: true
}

export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description(
      'Go back to a backup, while the service is stopped. It is checked first; what it replaces is kept under another name.',
    )
    .argument('[file]', 'what petstore backup has written, or a database that was replaced')
    .option(
      '--new-identity',
      'after a restore by other means, such as pg_restore: events followed before are listed again',
    )
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(restore)
}

async function restore(file: string | undefined, flags: Flags): Promise<void> {
  if ((file === undefined) === (flags.newIdentity === undefined)) {
    wrongUse('give either the file to go back to or --new-identity')
  }
  if (file === undefined) await renewIdentity(flags)
  else await restoreFile(file, flags)
}

async function restoreFile(file: string, flags: Flags): Promise<void> {
  const config = readConfig(flags)
  const database = databaseName(config)
  if (canBeShared(config.databaseUrl)) {
    console.log(stepsOnPostgres(file))
    throw new Error(`PostgreSQL restores ${database} with its own tools, as above; nothing was changed`)
  }
  const { replaced, isOlder } = attempt(dirname(database), () =>
    restoreStore(resolve(file), config.databaseUrl),
  )
  const megabytes = (statSync(database).size / 1_000_000).toFixed(1)
  console.log(`Restored ${database} (${megabytes} MB) from ${file}, and checked it.`)
  if (replaced !== undefined) {
    console.log(`What was there is kept as ${replaced}; petstore restore ${replaced} goes back to it.`)
  }
  if (isOlder) console.log('Its tables are of an older version: petstore serve brings them up to date.')
}

function attempt<Result>(folder: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    const reason = fullDiskText(error, folder) ?? (error instanceof Error ? error.message : String(error))
    throw new Error(`cannot restore: ${reason}. Nothing was changed`, { cause: error })
  }
}

/** What docs/operating.md says as well. */
function stepsOnPostgres(file: string): string {
  return [
    'Stop all instances; then:',
    '',
    'pg_dump --format=custom --file=before-restore.dump "$DATABASE_URL"',
    `pg_restore --clean --if-exists --no-owner --single-transaction --dbname="$DATABASE_URL" ${quoted(file)}`,
    'petstore restore --new-identity',
    '',
    'The first line keeps what there is. Start the instances again.',
  ].join('\n')
}

/** As a shell reads it as one word. */
function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

async function renewIdentity(flags: Flags): Promise<void> {
  const config = readConfig(flags)
  const store = await openConfigured(config, { tables: 'expect', exclusive: true })
  try {
    await store.renewIdentity()
  } finally {
    await store.close()
  }
  console.log(`${databaseName(config)} has a new identity: those who followed its events list again.`)
}
