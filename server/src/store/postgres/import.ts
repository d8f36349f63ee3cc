import type { ImportedCategory } from '../../core/catalog/category.ts'
import type { ImportedPet } from '../../core/catalog/pet.ts'
import type { OrderRow } from '../../core/orders/order.ts'
import type { StagedAdjustment } from '../../core/transfer/staged-adjustment.ts'
import type { StagedImport } from '../../core/transfer/staged-import.ts'
import { AdjustmentTables } from '../import-adjustment.ts'
import { CategoryImport } from '../import-categories.ts'
import { OrderImport } from '../import-orders.ts'
import { PetImport } from '../import-pets.ts'
import type { LongSession, StoreClock } from '../sql.ts'
import type { Connection } from './connection.ts'
import { writeDecision } from './decision.ts'
import { takeLogNumbers } from './dialect.ts'
import type { PostgresSession } from './session.ts'

/**
 * What is staged is compared with the store and written in one transaction: first what the store has never had, since
 * nobody has to wait for that; then what it has is locked, in the order of the ids, compared again and written. A row
 * that was found equal is not locked: a change to it that comes while the import is written comes after it.
 */
export async function stagePets(connection: Connection): Promise<StagedImport<ImportedPet>> {
  const session = await importSession(connection)
  return PetImport.create(session, connection.dialect, (pets, options) =>
    session.writeInSteps(async () => {
      options.signal?.throwIfAborted()
      for (const { text, values } of connection.dialect.lockCatalog) await session.run(text, ...values)
      await pets.tables.compareAll({ mayBeFresh: true })
      const refused = await pets.refuseOrLeaveOut(options)
      await pets.write('is_fresh', options)
      await lockStock(session, 'SELECT id FROM differing WHERE NOT is_fresh')
      await pets.tables.compareTouched()
      await pets.write('NOT is_fresh', options)
      return pets.finish(options, refused)
    }),
  )
}

export async function stageOrders(
  connection: Connection,
  clock: StoreClock,
): Promise<StagedImport<OrderRow>> {
  const session = await importSession(connection)
  return OrderImport.create(session, {
    ...{ dialect: connection.dialect, clock },
    write: (decision, lastChangeOf) =>
      session.together(async (sql) => {
        const numbers = await takeLogNumbers(sql, decision.records.length)
        await Promise.all(writeDecision(sql, decision, { lastChangeOf, numbers }))
      }),
  })
}

/** Everything that is named is locked, in the order of the ids, before it is decided on. */
export async function stageAdjustment(connection: Connection): Promise<StagedAdjustment> {
  const session = await importSession(connection)
  return AdjustmentTables.create(session, connection.dialect, (tables, options) =>
    session.writeInSteps(async () => {
      options.signal?.throwIfAborted()
      await lockStock(session, 'SELECT id FROM sorted')
      await tables.compareAll()
      return tables.write(options)
    }),
  )
}

export async function stageCategories(connection: Connection): Promise<StagedImport<ImportedCategory>> {
  return CategoryImport.create(await importSession(connection), connection.dialect)
}

async function importSession(connection: Connection): Promise<PostgresSession> {
  const session = await connection.separateSession()
  await session.run(
    "SET statement_timeout = 0; SET temp_buffers = '64MB'; SET work_mem = '64MB'; SET enable_seqscan = on",
  )
  return session
}

/** Of the pets that `ids` selects, which are in `touched` from then on. */
async function lockStock(session: LongSession, ids: string): Promise<void> {
  await session.run('DELETE FROM touched')
  await session.run(`INSERT INTO touched ${ids}`)
  await session.analyze('touched')
  await session.rows(`SELECT count(*) FROM (
    SELECT 1 FROM stock WHERE pet_id IN (SELECT id FROM touched) ORDER BY pet_id FOR UPDATE) AS locked`)
}
