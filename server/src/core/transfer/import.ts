import type { CatalogStore } from '../catalog/catalog-store.ts'
import { applyThresholdOf, type ThresholdParts } from '../catalog/threshold-changes.ts'
import type { ChangeOrigin } from '../stock/change-origin.ts'
import type { Command, EarlierAnswer, Idempotency } from '../stock/command.ts'
import { earlierAnswer, NO_ANSWER } from '../stock/decide.ts'
import type { StockStore } from '../stock/stock-store.ts'
import { BadFile, readHeader } from './csv.ts'
import { type ColumnMapping, IMPORT_KINDS, type ImportKind, matchColumns, readColumns } from './files.ts'
import {
  type ImportCounts,
  type ImportPlan,
  nextTurn,
  type PlanOptions,
  planCategories,
  planCount,
  planOrders,
  planPets,
  type StagedRow,
  type WriteStep,
} from './import-plan.ts'
import { matchPreset, PRESET_CATEGORY, type PresetName, readPreset } from './presets.ts'
import { type Locale, type RefusedLine, type RowKind, rowOrReason } from './rows.ts'
import type { ChangeStep, TransferStore } from './transfer-store.ts'

/** The key in the history for changes that `petstore import` makes. */
export const IMPORT_KEY_ID = 'petstore-import'

export interface ImportReport extends ImportCounts {
  readonly rows: number
  /** Describes each column of the file that was ignored. */
  readonly ignoredColumns: readonly string[]
}

/** Nothing was changed, because rows were refused. They are sorted by line. */
export class RowsRefused extends Error {
  override readonly name = 'RowsRefused'
  /** The file that has the rows. */
  readonly kind: ImportKind
  readonly refused: readonly RefusedLine[]

  constructor(kind: ImportKind, refused: readonly RefusedLine[]) {
    const sorted = refused.toSorted((one, other) => one.line - other.line)
    const [first] = sorted
    if (first === undefined) throw new Error('a refused import must name the refused rows')
    const count = sorted.length === 1 ? '1 row' : `${sorted.length} rows`
    super(`${count} cannot be imported, such as line ${first.line}: ${first.reason}`)
    this.kind = kind
    this.refused = sorted
  }
}

/** Nothing was changed, because the idempotency key of the import was already used. */
export class KeyUsed extends Error {
  override readonly name = 'KeyUsed'
  readonly answer: EarlierAnswer

  constructor(answer: EarlierAnswer) {
    super('the idempotency key of the import was already used')
    this.answer = answer
  }
}

export interface ImportParts extends ThresholdParts {
  readonly store: TransferStore &
    Pick<CatalogStore, 'listCategories'> &
    Pick<StockStore, 'findAnswer'> &
    ThresholdParts['store']
}

export interface ImportedFile {
  readonly kind: ImportKind
  readonly text: string
}

export interface ImportRequest extends Omit<PlanOptions, 'categories' | 'defaultCategory'> {
  /** Rows of a file may refer to records of the files before it. */
  readonly files: readonly ImportedFile[]
  readonly mapping?: ColumnMapping | undefined
  readonly locale?: Locale | undefined
  /** The system that exported a file of pets. */
  readonly preset?: PresetName | undefined
  /** Decides everything, and changes and remembers nothing. */
  readonly dryRun: boolean
  /** The answer is remembered in the transaction of the import. A refused import is not remembered. */
  readonly idempotency?: Idempotency<readonly ImportReport[]> | undefined
}

interface PreparedImport {
  readonly kind: ImportKind
  readonly plan: ImportPlan
  toReport(counts: WrittenCounts): ImportReport
}

/**
 * Imports all rows of the files or none. Throws `BadFile` if a text is not such a file, and `RowsRefused` if rows of a file are
 * refused: those that cannot be read or contradict each other, and otherwise those that contradict the store. Throws `KeyUsed`
 * if its idempotency key was used.
 */
export async function importFiles(
  parts: ImportParts,
  request: ImportRequest,
): Promise<readonly ImportReport[]> {
  await requireNewKey(parts.store, request)
  const prepared: PreparedImport[] = []
  const defaultCategory = request.preset && PRESET_CATEGORY
  let categories: PlanOptions['categories']
  for (const file of request.files) {
    const next = await prepareFile(parts.store, file, { ...request, categories, defaultCategory }).catch(
      (error: unknown) => {
        throw error instanceof BadFile ? new BadFile(error.message, file.kind) : error
      },
    )
    categories = next.plan.categories ?? categories
    prepared.push(next)
  }
  const reports = await write(parts.store, prepared, request)
  const thresholds = prepared.flatMap(({ plan }) => plan.thresholds ?? [])
  for (const categoryId of request.dryRun ? [] : thresholds) {
    await applyThresholdOf(categoryId, parts, request.origin.keyId)
  }
  return reports
}

type PrepareOptions = ImportRequest & PlanOptions

function prepareFile(
  store: ImportParts['store'],
  file: ImportedFile,
  options: PrepareOptions,
): Promise<PreparedImport> {
  switch (file.kind) {
    case 'pets':
      return prepareRows(store, file, options, IMPORT_KINDS.pets, planPets)
    case 'categories':
      return prepareRows(store, file, options, IMPORT_KINDS.categories, planCategories)
    case 'orders':
      return prepareRows(store, file, options, IMPORT_KINDS.orders, planOrders)
    case 'count':
      return prepareRows(store, file, options, IMPORT_KINDS.count, planCount)
  }
}

async function prepareRows<Value extends object>(
  store: ImportParts['store'],
  { kind, text }: ImportedFile,
  options: PrepareOptions,
  rowKind: RowKind<Value>,
  planRows: (
    rows: readonly StagedRow<Value>[],
    store: ImportParts['store'],
    options: PlanOptions,
  ) => Promise<ImportPlan>,
): Promise<PreparedImport> {
  if (options.preset !== undefined && kind !== 'pets') {
    throw new BadFile(`${options.preset} is a preset for a file of pets`)
  }
  const { rows, refused, ignoredColumns } = await stageRows(text, options, rowKind)
  const plan = await planRows(rows, store, options)
  const allRefused = [...refused, ...plan.refused]
  if (allRefused.length > 0) throw new RowsRefused(kind, allRefused)
  const toReport = (counts: WrittenCounts): ImportReport => ({
    rows: rows.length,
    ...counts,
    unchanged: rows.length - counts.added - counts.changed,
    ignoredColumns,
  })
  return { kind, plan, toReport }
}

/** A repeated request is answered before its file is read, which may contradict the store by now. */
async function requireNewKey(
  store: ImportParts['store'],
  { idempotency, origin }: ImportRequest,
): Promise<void> {
  if (idempotency === undefined) return
  const { key: idempotencyKey, fingerprint } = idempotency
  const remembered = await store.findAnswer({ keyId: origin.keyId, idempotencyKey })
  const answer = earlierAnswer(remembered, { fingerprint, at: origin.at })
  if (answer !== undefined) throw new KeyUsed(answer)
}

/** Reads all rows. */
async function stageRows<Value extends object>(
  text: string,
  { preset, mapping, locale, onStep }: ImportRequest,
  kind: RowKind<Value>,
) {
  const header = readHeader(text)
  const columns =
    preset === undefined ? matchColumns(header, kind, mapping) : matchPreset(header, preset, kind, mapping)
  const rows: StagedRow<Value>[] = []
  const refused: RefusedLine[] = []
  const batches =
    'indexes' in columns ? readColumns(text, header, columns) : readPreset(text, header, columns)
  for (const batch of batches) {
    for (const raw of batch) {
      const { line } = raw
      const row =
        'reason' in raw ? raw : rowOrReason(line, () => ({ line, value: kind.read(raw.fields, locale) }))
      if ('reason' in row) refused.push(row)
      else rows.push(row)
    }
    onStep('reading', rows.length + refused.length)
    await nextTurn()
  }
  return { rows, refused, ignoredColumns: columns.ignored }
}

/** Thrown to roll back the transaction of a dry run. */
class DryRunEnds extends Error {
  override readonly name = 'DryRunEnds'
}

type WrittenCounts = Pick<ImportCounts, 'added' | 'changed'>

async function write(
  store: TransferStore,
  imports: readonly PreparedImport[],
  { dryRun, onStep, idempotency, origin }: ImportRequest,
): Promise<readonly ImportReport[]> {
  const total = imports.reduce((sum, { plan }) => sum + plan.total, 0)
  let reports = imports.map(({ toReport }) => toReport({ added: 0, changed: 0 }))
  const isRemembered = idempotency !== undefined && !dryRun
  if (total === 0 && !isRemembered) return reports
  const work = async (change: ChangeStep) => {
    const remember = isRemembered ? rememberIn(change, idempotency, origin) : undefined
    await remember?.lockKey()
    let rowsWritten = 0
    // The store returns an outcome of each command, because none has an idempotency key.
    const step = async (commands: readonly Command[], rows: number) => {
      const results = await change(commands)
      rowsWritten += rows
      onStep('writing', rowsWritten, total)
      return results
    }
    const written: ImportReport[] = []
    for (const { kind, plan, toReport } of imports) {
      const { refused, added, changed } = await plan.write(step as WriteStep)
      if (refused.length > 0) throw new RowsRefused(kind, refused)
      written.push(toReport({ added, changed }))
    }
    reports = written
    await remember?.write(reports)
    if (dryRun) throw new DryRunEnds()
  }
  try {
    await store.changeInOneTransaction(work)
  } catch (error) {
    if (!(error instanceof DryRunEnds)) throw error
  }
  return reports
}

/** Remembers the answer of an import in its transaction. */
function rememberIn(
  change: ChangeStep,
  idempotency: Idempotency<readonly ImportReport[]>,
  origin: ChangeOrigin,
) {
  const remember = async (text: string) => {
    const once = { ...idempotency, answer: () => text }
    const [result] = await change([{ type: 'remember_answer', ...origin, idempotency: once }])
    if (result?.type === 'replayed' || result?.type === 'key_reused') throw new KeyUsed(result)
  }
  return {
    /** Another import with the key waits for this one, and then throws `KeyUsed`. */
    lockKey: () => remember(NO_ANSWER),
    write: (reports: readonly ImportReport[]) => remember(idempotency.answer(reports)),
  }
}
