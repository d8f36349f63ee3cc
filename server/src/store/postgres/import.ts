import type { StagedAdjustment } from '../../core/transfer/staged-adjustment.ts'
import type { StagedImport } from '../../core/transfer/staged-import.ts'
import { AdjustmentTables } from '../import-adjustment.ts'
import { type ImportPlan, LOCK_STOCK } from '../import-plan.ts'
import { ImportTables } from '../import-tables.ts'
import type { LongSession } from '../sql.ts'
import type { Connection } from './connection.ts'

/**
 * What is staged is compared with the store and written in one transaction: first what the store has never had, since
 * nobody has to wait for that; then what it has is locked, in the order of the ids, compared again and written. A row
 * that was found equal is not locked: a change to it that comes while the import is written comes after it.
 */
export async function stageImport<Value>(
  connection: Connection,
  plan: ImportPlan<Value>,
): Promise<StagedImport<Value>> {
  const session = await sessionFor(connection)
  return ImportTables.create(session, plan, connection.dialect, (tables, options) =>
    session.writeInSteps(async () => {
      options.signal?.throwIfAborted()
      for (const { text, values } of connection.dialect.beforeNewPets) await session.run(text, ...values)
      await tables.compareAll({ mayBeFresh: true })
      await tables.write('is_fresh', options)
      await lock(session, 'SELECT id FROM differing WHERE NOT is_fresh', plan.toBeLocked)
      await tables.compareTouched()
      await tables.write('NOT is_fresh', options)
      return tables.finish(options)
    }),
  )
}

/** Everything that is named is locked, in the order of the ids, before it is decided on. */
export async function stageAdjustment(connection: Connection): Promise<StagedAdjustment> {
  const session = await sessionFor(connection)
  return AdjustmentTables.create(session, connection.dialect, (tables, options) =>
    session.writeInSteps(async () => {
      options.signal?.throwIfAborted()
      await lock(session, 'SELECT id FROM sorted', LOCK_STOCK)
      await tables.compareAll()
      return tables.write(options)
    }),
  )
}

async function sessionFor(connection: Connection): Promise<LongSession> {
  const session = await connection.separateSession()
  await session.run("SET statement_timeout = 0; SET temp_buffers = '64MB'; SET work_mem = '64MB'")
  return session
}

/** Locks what `toBeLocked` selects of these ids. */
async function lock(session: LongSession, ids: string, toBeLocked: string): Promise<void> {
  await session.run('DELETE FROM touched')
  await session.run(`INSERT INTO touched ${ids}`)
  await session.analyze('touched')
  await session.rows(`SELECT count(*) FROM (${toBeLocked} FOR UPDATE) AS locked`)
}
