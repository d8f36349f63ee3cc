import { copyStore } from '../../core/transfer/copy.ts'
import { readConfig } from '../../service/config.ts'
import { isPostgresUrl } from '../../store/open-store.ts'
import { type PetstoreCommand, throwUsageError } from '../arguments.ts'
import { Progress } from '../progress.ts'
import { formatNumber, quoteForShell, runInterruptible } from '../terminal.ts'
import { databaseName, isDatabaseFileMissing, withStore } from '../with-store.ts'

interface Flags {
  readonly from?: string
  readonly to?: string
}

export function addCopyCommand(program: PetstoreCommand): void {
  program
    .command('copy')
    .description(
      'Copy a whole store, for example from SQLite to PostgreSQL: stock, orders, keys, history, limits. Stop the service first, because later changes are not copied.',
    )
    .option('--from <url>', 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE')
    .option(
      '--to <url>',
      'URL of an empty store, in the same form as for --from. One of the two flags may be left out and defaults to DATABASE_URL',
    )
    .action(copy)
}

async function copy({ from, to }: Flags): Promise<void> {
  if (from === undefined && to === undefined) {
    throwUsageError('copy needs --from or --to; the other defaults to DATABASE_URL')
  }
  const flagsFor = (databaseUrl: string | undefined) => (databaseUrl === undefined ? {} : { databaseUrl })
  // The default path of SQLite depends on the current folder, so a file is created only if --to names it. PostgreSQL has no
  // default address, so the user has chosen the target.
  const targetConfig = readConfig(flagsFor(to))
  const mayCreateTarget = to !== undefined || isPostgresUrl(targetConfig.databaseUrl)
  if (!mayCreateTarget && isDatabaseFileMissing(targetConfig)) {
    const address = quoteForShell(targetConfig.databaseUrl)
    throw new Error(
      `there is no database at ${databaseName(targetConfig)}; to create it, add --to ${address}`,
    )
  }
  const progress = new Progress('rows')
  await runInterruptible('nothing was copied', (signal) =>
    withStore(flagsFor(from), 'require_current_tables', ({ store: source }) =>
      withStore(
        flagsFor(to),
        mayCreateTarget ? 'create_if_missing' : 'require_current_tables',
        async ({ store: target, database }) => {
          const startedAt = performance.now()
          const { counts, tag } = await copyStore(source, target, {
            signal,
            onProgress: (kind, rows, fraction) => progress.show(kind.replaceAll('_', ' '), rows, fraction),
          }).finally(() => progress.end())
          const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
          console.log(
            `Copied ${formatNumber(counts.pets)} pets, ${formatNumber(counts.orders)} orders, ${formatNumber(counts.log)} rows of the log and ${formatNumber(counts.keys)} keys to ${database} in ${seconds} s. Both stores have the same counts and the same stock (ETag ${tag})`,
          )
        },
      ),
    ),
  )
}
