import type { Command } from 'commander'
import { copyStore } from '../../core/transfer/store-copy.ts'
import { postgresSettings, readConfig } from '../../service/config.ts'
import { withoutPassword } from '../../store/database-url.ts'
import { openStore } from '../../store/open-store.ts'
import { interruptible } from '../interruption.ts'
import { grouped, Progress } from '../progress.ts'

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

async function copy(flags: Flags, command: Command): Promise<void> {
  if (flags.from === undefined && flags.to === undefined) {
    command.error('copy needs --from or --to; the other one is what DATABASE_URL says')
  }
  const [from, to] = [flags.from, flags.to].map((databaseUrl) =>
    readConfig(databaseUrl === undefined ? {} : { databaseUrl }),
  )
  if (from === undefined || to === undefined) return
  await interruptible('nothing was copied', async (signal) => {
    const began = performance.now()
    const progress = new Progress()
    const source = await openStore(from.databaseUrl, { tables: 'expect' }, postgresSettings(from))
    try {
      const target = await openStore(to.databaseUrl, { tables: 'make_if_none' }, postgresSettings(to))
      try {
        const { counts, tag } = await copyStore(source, target, {
          signal,
          onProgress: (kind, rows, fraction) => progress.show(kind.replaceAll('_', ' '), rows, fraction),
        })
        progress.end()
        const seconds = ((performance.now() - began) / 1_000).toFixed(1)
        console.log(
          `Copied ${grouped(counts.pets)} pets, ${grouped(counts.orders)} orders, ${grouped(counts.log)} rows of the log and ${grouped(counts.keys)} keys to ${withoutPassword(to.databaseUrl)} in ${seconds} s. Counts and stock agree: ${tag}`,
        )
      } finally {
        await target.close()
      }
    } finally {
      progress.end()
      await source.close()
    }
  })
}
