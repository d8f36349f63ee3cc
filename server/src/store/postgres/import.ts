import type { StagedImport } from '../../core/transfer/staged-import.ts'
import type { ImportPlan } from '../import-plan.ts'
import { ImportTables } from '../import-tables.ts'
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
  const session = await connection.separateSession()
  await session.run("SET statement_timeout = 0; SET temp_buffers = '64MB'; SET work_mem = '64MB'")
  return ImportTables.create(session, plan, connection.dialect, (tables, options) =>
    session.writeInSteps(async () => {
      options.signal?.throwIfAborted()
      for (const { text, values } of connection.dialect.beforeNewPets) await session.run(text, ...values)
      await tables.compareAll({ mayBeFresh: true })
      await tables.write('is_fresh', options)
      await session.run('DELETE FROM touched')
      await session.run('INSERT INTO touched SELECT id FROM differing WHERE NOT is_fresh')
      await session.analyze('touched')
      await session.rows(`SELECT count(*) FROM (${plan.toBeLocked} FOR UPDATE) AS locked`)
      await tables.compareTouched()
      await tables.write('NOT is_fresh', options)
      return tables.finish(options)
    }),
  )
}
