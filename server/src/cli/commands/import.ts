import { join } from 'node:path'
import { Argument } from 'commander'
import { GroupCommit } from '../../core/stock/group-commit.ts'
import { BadFile, decodeFile, ENCODINGS, type Encoding } from '../../core/transfer/csv.ts'
import {
  type ColumnMapping,
  IMPORT_KIND_NAMES,
  IMPORT_KINDS,
  type ImportKind,
  parseMapping,
  STORE_KINDS,
} from '../../core/transfer/files.ts'
import {
  IMPORT_KEY_ID,
  type ImportedFile,
  type ImportReport,
  importFiles,
  RowsRefused,
} from '../../core/transfer/import.ts'
import { PRESET_NAMES, type PresetName } from '../../core/transfer/presets.ts'
import { headerOf, LOCALES, type Locale, type RefusedLine } from '../../core/transfer/rows.ts'
import { ServiceError } from '../../core/values/errors.ts'
import type { Store } from '../../store/store.ts'
import {
  choiceParser,
  type PetstoreCommand,
  type SettingFlags,
  throwUsageError,
  wholeNumberParser,
} from '../arguments.ts'
import { readInput } from '../files.ts'
import { Progress } from '../progress.ts'
import { formatCount, formatNumber, runInterruptible, UnknownOutcome } from '../terminal.ts'
import { withStore } from '../with-store.ts'

interface Flags extends SettingFlags {
  readonly dryRun?: true
  readonly map?: ColumnMapping
  readonly preset?: PresetName
  readonly locale?: Locale
  readonly encoding: Encoding
  readonly show: number
}

export function addImportCommand(program: PetstoreCommand): void {
  program
    .command('import')
    .description(
      'Import pets (with their stock), categories, orders, a stock count or the folder of petstore export --all, even while the service is running: all rows or none. Records that are not in a file stay unchanged.',
    )
    .addArgument(
      new Argument('<kind>', [...IMPORT_KIND_NAMES, ALL].join(', ')).choices([...IMPORT_KIND_NAMES, ALL]),
    )
    .argument(
      '<file>',
      `a CSV file; - reads standard input; for ${ALL}, a folder with ${STORE_KINDS.map(fileName).join(', ')}`,
    )
    .option('--dry-run', 'check the whole file without changing anything')
    .option(
      '--map <columns>',
      'columns of the file with other names, such as Article:name,Stock:quantity',
      mapParser,
    )
    .option(
      '--preset <system>',
      `${PRESET_NAMES.join(', ')}; the system that exported a file of pets`,
      choiceParser('--preset', PRESET_NAMES),
    )
    .option(
      '--encoding <encoding>',
      `${ENCODINGS.join(', ')}; latin1 is Windows-1252, which spreadsheets write`,
      choiceParser('--encoding', ENCODINGS),
      'utf8',
    )
    .option(
      '--locale <locale>',
      `${LOCALES.join(', ')}; how numbers are written, if 1.200 or 1,200 occurs`,
      choiceParser('--locale', LOCALES),
    )
    .option('--show <number>', 'how many refused lines to show', wholeNumberParser('--show'), 20)
    .databaseSettings()
    .addHelpText(
      'after',
      `\nThe columns of each kind:\n  ${IMPORT_KIND_NAMES.map((kind) => `${kind}: ${headerOf(IMPORT_KINDS[kind].columns)}`).join('\n  ')}`,
    )
    .action(importPath)
}

const ALL = 'all'

const fileName = (kind: ImportKind) => `${kind}.csv`

function mapParser(text: string): ColumnMapping {
  try {
    return parseMapping(text)
  } catch (error) {
    if (error instanceof BadFile) return throwUsageError(`--map: ${error.message}`)
    throw error
  }
}

interface NamedFile extends ImportedFile {
  readonly name: string
}

/** Ctrl-C and SIGTERM abort the import. */
async function importPath(kind: ImportKind | typeof ALL, path: string, flags: Flags): Promise<void> {
  await runInterruptible('nothing was changed', async (signal) => {
    const files: NamedFile[] = []
    for (const each of kind === ALL ? STORE_KINDS : [kind]) {
      files.push(await readFile(each, kind === ALL ? join(path, fileName(each)) : path, flags, signal))
    }
    // A stock count changes existing pets only, so a missing database is an error.
    const tables = kind === 'count' ? 'require_current_tables' : 'create_if_missing'
    await withStore(flags, tables, async ({ store, database }) => {
      const startedAt = performance.now()
      const reports = await importTexts(store, files, flags, signal)
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
      for (const [index, { kind: imported, name }] of files.entries()) {
        const report = reports[index]
        if (report === undefined) throw new Error('an import must have a report of each file')
        console.log(`${name}: ${summary(imported, report, flags)} (${seconds} s) in ${database}`)
      }
    })
  })
}

async function readFile(
  kind: ImportKind,
  path: string,
  { encoding }: Flags,
  signal: AbortSignal,
): Promise<NamedFile> {
  const name = path === '-' ? 'standard input' : path
  const bytes = await readInput(path, signal)
  try {
    return { kind, name, text: decodeFile(bytes, encoding) }
  } catch (error) {
    throw badFileError(name, error)
  }
}

async function importTexts(
  store: Store,
  files: readonly NamedFile[],
  flags: Flags,
  signal: AbortSignal,
): Promise<readonly ImportReport[]> {
  const dryRun = flags.dryRun === true
  const progress = new Progress('rows')
  let isLastStep = false
  const commits = new GroupCommit({ store, limits: { afterPendingChecks: setImmediate }, observers: [] })
  try {
    return await importFiles(
      { store, commits, clock: store.clock },
      {
        files,
        dryRun,
        preset: flags.preset,
        mapping: flags.map,
        locale: flags.locale,
        canChangeStock: true,
        origin: { keyId: IMPORT_KEY_ID, at: store.clock() },
        onStep: (phase, rows, total) => {
          signal.throwIfAborted()
          isLastStep = phase === 'writing' && rows === total && !dryRun
          progress.show(phase, rows, total === undefined ? undefined : rows / total)
        },
      },
    )
  } catch (error) {
    progress.end()
    const nameOf = (kind: string | undefined) => files.find((file) => file.kind === kind)?.name ?? ''
    if (error instanceof BadFile) throw badFileError(nameOf(error.kind), error)
    if (error instanceof RowsRefused) throw refusedError(nameOf(error.kind), error.refused, flags.show)
    throw explainDatabaseFailure(error, isLastStep)
  } finally {
    progress.end()
  }
}

function badFileError(name: string, error: unknown): unknown {
  return error instanceof BadFile ? new Error(`${name}: ${error.message}; nothing was changed`) : error
}

function summary(
  kind: ImportKind,
  { added, changed, unchanged, ignoredColumns }: ImportReport,
  { dryRun }: Flags,
): string {
  const { noun, plural } = IMPORT_KINDS[kind]
  const counts =
    kind === 'count'
      ? [`${formatCount(changed, noun, plural)} changed`]
      : [`${formatCount(added, noun, plural)} added`, `${formatNumber(changed)} changed`]
  const ignored = ignoredColumns.length === 0 ? '' : `; ignored the columns ${ignoredColumns.join(', ')}`
  const prefix = dryRun ? 'nothing was changed, because this is a dry run. It would be ' : ''
  return `${prefix}${[...counts, `${formatNumber(unchanged)} unchanged`].join(', ')}${ignored}`
}

/** Prints the first refused lines. */
function refusedError(name: string, refused: readonly RefusedLine[], show: number): Error {
  for (const { line, reason } of refused.slice(0, show)) console.error(`  line ${line}: ${reason}`)
  const hidden = refused.length - show
  if (hidden > 0) console.error(`  … and ${formatNumber(hidden)} more (--show ${refused.length} shows all)`)
  return new Error(
    `${name} has ${formatCount(refused.length, 'bad line')}; nothing was changed. Fix the file and run the command again`,
  )
}

/** Adds the cause of a database failure, and its effect. Returns other errors unchanged. */
function explainDatabaseFailure(error: unknown, mayBeCommitted: boolean): unknown {
  if (!(error instanceof ServiceError) || !(error.cause instanceof Error)) return error
  const failure = `the database failed (${error.cause.message})`
  return mayBeCommitted
    ? new UnknownOutcome(
        `${failure}; the import may have been made: run the command again, which leaves imported rows unchanged`,
        { cause: error },
      )
    : new Error(`${failure}; nothing was changed`, { cause: error })
}
