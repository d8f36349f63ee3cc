import type { Command } from 'commander'
import { copyStore } from '../../core/transfer/store-copy.ts'
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
      'Move a whole store, such as from SQLite to PostgreSQL: stock, orders, keys, history, limits. Stop the service first, or what is changed meanwhile stays behind.',
    )
    .option('--from <url>', 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE')
    .option(
      '--to <url>',
      'likewise; it must be empty. One of the two may be left out: it is what DATABASE_URL says',
    )
    .action(copy)
}

async function copy({ from, to }: Flags): Promise<void> {
  if (from === undefined && to === undefined) {
    wrongUse('copy needs --from or --to; the other one is what DATABASE_URL says')
  }
  const flagsFor = (databaseUrl: string | undefined) => (databaseUrl === undefined ? {} : { databaseUrl })
  // No file that nobody has named here: by mistake that may be in any folder.
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
          `Copied ${grouped(counts.pets)} pets, ${grouped(counts.orders)} orders, ${grouped(counts.log)} rows of the log and ${grouped(counts.keys)} keys to ${databaseName(config)} in ${seconds} s. Counts and stock agree: ${tag}`,
        )
      }),
    ),
  )
}
