import type { ImportDatabase } from '../import-tables.ts'
import type { StoreClock } from '../sql.ts'
import type { Connection } from './connection.ts'
import { runAll } from './session.ts'
import { decisionStatements, takeLogId } from './stock.ts'

/**
 * The import compares and writes in one transaction. It does not lock stored rows that already match the file. Other clients
 * can change them during the import; such a change counts as later than the import. An adjustment locks all of its pets.
 */
export async function openImport(connection: Connection, clock: StoreClock): Promise<ImportDatabase> {
  const session = await connection.openSeparateSession()
  await session.run(
    "SET statement_timeout = 0; SET temp_buffers = '64MB'; SET work_mem = '64MB'; SET enable_seqscan = on",
  )
  return {
    session,
    dialect: connection.dialect,
    clock,
    apply: (tables, write) =>
      session.writeInTransaction(async () => {
        await tables.kind.lock(tables)
        await tables.compareAll()
        return write()
      }),
    writeDecision: (decision) =>
      session.withSession(async (sql) => {
        const [first] = await takeLogId(sql)
        await runAll(sql, decisionStatements(decision, first?.id ?? 1n))
      }),
  }
}
