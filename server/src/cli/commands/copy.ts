import type { Command } from 'commander'
import { copyStore } from '../../core/transfer/copy.ts'
import { readConfig } from '../../service/config.ts'
import { canBeShared } from '../../store/open-store.ts'
import { wrongUse } from '../arguments.ts'
import { grouped, interruptible, Progress } from '../terminal.ts'
import { databaseName, withStore } from '../with-store.ts'

interface Flags {
  readonly from?: string
  readonly to?: string
}

export function addCopyCommand(program: Command): void {
  program
    .command('copy')
    .description(
      'Copy a whole store, such as from SQLite to PostgreSQL: stock, orders, keys, history, limits. Stop the service first: later changes are not copied.',
    )
    .option('--from <url>', 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE')
    .option(
      '--to <url>',
      'an empty store, in the same format. One of the two flags may be left out and defaults to DATABASE_URL',
    )
    .action(copy)
}

async function copy({ from, to }: Flags): Promise<void> {
  if (from === undefined && to === undefined) {
    wrongUse('copy needs --from or --to; the other defaults to DATABASE_URL')
  }
  const flagsFor = (databaseUrl: string | undefined) => (databaseUrl === undefined ? {} : { databaseUrl })
  // Without a name for the target, a mistake would create a file in any folder.
  const isNamed = to !== undefined || canBeShared(readConfig({}).databaseUrl)
  const progress = new Progress()
  await interruptible('nothing was copied', (signal) =>
    withStore(flagsFor(from), 'expect', (source) =>
      withStore(flagsFor(to), isNamed ? 'make_if_none' : 'expect', async (target, config) => {
        const began = performance.now()
        const { counts, tag } = await copyStore(source, target, {
          signal,
          onProgress: (kind, rows, fraction) => progress.show(kind.replaceAll('_', ' '), rows, fraction),
        }).finally(() => progress.end())
        const seconds = ((performance.now() - began) / 1_000).toFixed(1)
        console.log(
          `Copied ${grouped(counts.pets)} pets, ${grouped(counts.orders)} orders, ${grouped(counts.log)} rows of the log and ${grouped(counts.keys)} keys to ${databaseName(config)} in ${seconds} s. Both stores have the same counts and the same stock, ETag ${tag}`,
        )
      }),
    ),
  )
}
