import type { AdjustmentChange } from '../core/stock/command.ts'
import type { PetStatus } from '../core/stock/inventory.ts'
import {
  type AdjustmentReport,
  type AdjustOptions,
  decideRows,
  type FoundRow,
  type QuantityStep,
  type StagedAdjustment,
} from '../core/transfer/staged-adjustment.ts'
import type { DuplicateRow, StagedRow, Tally } from '../core/transfer/staged-import.ts'
import { createTables, Staging, type StagingPlan } from './import-staging.ts'
import { inSteps, ROWS_A_STEP, record } from './import-steps.ts'
import { IN_STEP, logThresholdCrossings } from './low-stock.ts'
import type { Columns, Dialect, LongSession, SqlValue } from './sql.ts'

/**
 * Decided on at once: the next get their turn when others had theirs. As many as fit what a connection takes without being
 * read: a server that waits for a process that stands still does not notice that it does.
 */
const ROWS_A_DECISION = 1_000

const PLAN: StagingPlan<AdjustmentChange> = {
  columns: { delta: 'integer', quantity: 'integer', expected: 'integer' },
  bind: (change) => [change.petId, change.delta ?? null, change.quantity ?? null, change.expected ?? null],
}
const DIFFERING: Columns = { line: 'integer', old_quantity: 'integer', quantity: 'integer', status: 'text' }
const REFUSED: Columns = { line: 'integer', reason: 'text' }

/** A row of `sorted` with the entry that it is for, where there is one. */
interface SortedRow {
  readonly id: bigint
  readonly line: bigint
  readonly delta: bigint | null
  readonly quantity: bigint | null
  readonly expected: bigint | null
  readonly found: bigint | null
  readonly status: PetStatus | null
}

type Apply = (tables: AdjustmentTables, options: AdjustOptions) => Promise<AdjustmentReport>

/**
 * The temporary tables of an adjustment beside those of its rows: `differing` has the quantities that change, `refused`
 * the rows that cannot be, and `touched` the ids that are to be decided on again once nobody else can change them. How
 * that is brought about is the adapter's: it applies what is staged with the parts here.
 */
export class AdjustmentTables implements StagedAdjustment {
  readonly #session: LongSession
  readonly #staging: Staging<AdjustmentChange>
  readonly #dialect: Dialect
  readonly #apply: Apply

  static async create(session: LongSession, dialect: Dialect, apply: Apply): Promise<AdjustmentTables> {
    await createTables(session, dialect, {
      differing: { id: 'PRIMARY KEY', columns: DIFFERING },
      refused: { id: 'PRIMARY KEY', columns: REFUSED },
      touched: { id: '', columns: {} },
      numbered: { id: '', columns: { pet_id: 'integer' } },
    })
    return new AdjustmentTables(session, await Staging.create(session, PLAN, dialect), dialect, apply)
  }

  private constructor(
    session: LongSession,
    staging: Staging<AdjustmentChange>,
    dialect: Dialect,
    apply: Apply,
  ) {
    this.#session = session
    this.#staging = staging
    this.#dialect = dialect
    this.#apply = apply
  }

  add(rows: readonly StagedRow<AdjustmentChange>[]): Promise<void> {
    return this.#staging.add(rows)
  }

  seal(examples: number): Promise<Tally<DuplicateRow>> {
    return this.#staging.seal(examples)
  }

  discard(): Promise<void> {
    return this.#staging.discard()
  }

  async preview(examples: number): Promise<AdjustmentReport> {
    await this.compareAll()
    return this.#report(examples)
  }

  apply(options: AdjustOptions): Promise<AdjustmentReport> {
    return this.#apply(this, options)
  }

  async compareAll(): Promise<void> {
    await this.#session.run('DELETE FROM differing')
    await this.#session.run('DELETE FROM refused')
    await this.#compare('true')
  }

  /** Decides again on what is in `touched`. */
  async compareTouched(): Promise<void> {
    const isTouched = 'id IN (SELECT id FROM touched)'
    await this.#session.analyze('touched')
    await this.#session.run(`DELETE FROM differing WHERE ${isTouched}`)
    await this.#session.run(`DELETE FROM refused WHERE ${isTouched}`)
    await this.#compare(isTouched)
  }

  async #compare(which: string): Promise<void> {
    const steps = { table: 'sorted', which, size: ROWS_A_DECISION } as const
    await inSteps(this.#session, steps, async ({ from, to }) => {
      const rows = await this.#session.rows<SortedRow>(
        `SELECT id, line, delta, change.quantity, expected, stock.quantity AS found, status
        FROM (SELECT * FROM sorted WHERE id BETWEEN $1 AND $2 AND ${which}) AS change
        LEFT JOIN (SELECT * FROM stock WHERE pet_id BETWEEN $1 AND $2) AS stock ON pet_id = id ORDER BY id`,
        from,
        to,
      )
      const { made, refused } = decideRows(rows.map(toFound))
      await this.#keep(
        'differing',
        DIFFERING,
        made.map(({ petId, line, before, after, status }) => [petId, line, before, after, status]),
      )
      await this.#keep(
        'refused',
        REFUSED,
        refused.map(({ petId, line, reason }) => [petId, line, reason]),
      )
    })
    await this.#session.analyze('differing')
  }

  async #keep(table: string, columns: Columns, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    if (rows.length > 0) await this.#session.insert(table, { id: 'integer', ...columns }, rows)
  }

  /** Makes the changes in the transaction that is under way, where that may be. */
  async write({ signal, onProgress, ...options }: AdjustOptions): Promise<AdjustmentReport> {
    const report = await this.#report(options.examples)
    if (report.refused.count > 0 && !options.skipRefused) return report
    if (report.changed.count > 0) onProgress?.(0, report.changed.count)
    let written = 0
    const steps = { table: 'differing', which: 'true', size: ROWS_A_STEP, signal } as const
    await inSteps(this.#session, steps, async ({ from, to, rows }) => {
      await record(this.#session, this.#dialect, { which: 'true', kind: `'change'`, from, to }, options)
      for (const { text, values } of logThresholdCrossings(this.#dialect, IN_STEP, [from, to], options))
        await this.#session.run(text, ...values)
      written += rows
      onProgress?.(written, report.changed.count)
    })
    signal?.throwIfAborted()
    return report
  }

  async #report(examples: number): Promise<AdjustmentReport> {
    const changed = await this.#tally<{ id: bigint; line: bigint; old_quantity: bigint; quantity: bigint }>(
      'differing',
      examples,
    )
    const refused = await this.#tally<{ line: bigint; reason: string }>('refused', examples)
    return {
      changed: {
        count: changed.count,
        first: changed.first.map(
          (row): QuantityStep => ({
            ...{ line: Number(row.line), petId: row.id },
            ...{ before: Number(row.old_quantity), after: Number(row.quantity) },
          }),
        ),
      },
      unchanged: this.#staging.rows - changed.count - refused.count,
      refused: {
        count: refused.count,
        first: refused.first.map(({ line, reason }) => ({ line: Number(line), reason })),
      },
    }
  }

  async #tally<Row>(table: 'differing' | 'refused', examples: number): Promise<Tally<Row>> {
    const [total] = await this.#session.rows<{ rows: bigint }>(`SELECT count(*) AS rows FROM ${table}`)
    const first = await this.#session.rows<Row>(
      `SELECT * FROM ${table} ORDER BY line LIMIT CAST($1 AS BIGINT)`,
      examples,
    )
    return { count: Number(total?.rows ?? 0), first }
  }
}

function toFound({ id, line, delta, quantity, expected, found, status }: SortedRow): FoundRow {
  const before = expected === null ? {} : { expected: Number(expected) }
  const entry = found === null || status === null ? undefined : { quantity: Number(found), status }
  if (delta !== null)
    return { line: Number(line), value: { petId: id, delta: Number(delta), ...before }, entry }
  if (quantity === null) throw new Error(`line ${line} was staged without a change`)
  return { line: Number(line), value: { petId: id, quantity: Number(quantity), ...before }, entry }
}
