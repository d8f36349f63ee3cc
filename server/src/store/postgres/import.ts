import type { StockedPet } from '../../core/catalog/pet.ts'
import type { OrderRow } from '../../core/orders/order.ts'
import type { StagedImport } from '../../core/transfer/staged-import.ts'
import { OrderImport } from '../order-import.ts'
import { PetImport, TOUCHED_STOCK } from '../pet-import.ts'
import type { StoreClock } from '../store-clock.ts'
import type { Connection } from './connection.ts'
import { writeDecision } from './decision.ts'
import type { PostgresSession } from './session.ts'

/**
 * What is staged is compared with the store and written in one transaction: first what the store has never had, since
 * nobody has to wait for that; then what it has is locked, in the order of the ids, compared again and written. A row
 * that was found equal is not locked: a change to it that comes while the import is written comes after it.
 */
export async function stagePets(connection: Connection): Promise<StagedImport<StockedPet>> {
  const session = await importSession(connection)
  return PetImport.create(session, connection.dialect, (pets, options) =>
    session.writeInSteps(async () => {
      options.signal?.throwIfAborted()
      for (const { text, values } of connection.dialect.beforeNewPets) await session.run(text, ...values)
      await pets.tables.compareAll({ mayBeFresh: true })
      await pets.write('is_fresh', options)
      await session.run('DELETE FROM touched')
      await session.run('INSERT INTO touched SELECT id FROM differing WHERE NOT is_fresh')
      await session.analyze('touched')
      await session.rows(`SELECT count(*) FROM (${TOUCHED_STOCK} FOR UPDATE) AS locked`)
      await pets.tables.compareTouched()
      await pets.write('NOT is_fresh', options)
      return pets.finish(options)
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
      session.together((sql) => Promise.all(writeDecision(sql, decision, lastChangeOf))),
  })
}

async function importSession(connection: Connection): Promise<PostgresSession> {
  const session = await connection.separateSession()
  await session.run("SET statement_timeout = 0; SET temp_buffers = '64MB'; SET work_mem = '64MB'")
  return session
}
