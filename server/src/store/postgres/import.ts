import { needsSection } from '../../core/stock/command-table.ts'
import type { TransferStore } from '../../core/transfer/transfer-store.ts'
import type { StoreClock } from '../sql.ts'
import type { Connection } from './connection.ts'
import { CATALOG_LOCK, IMPORT_LOCK } from './dialect.ts'
import { decideUntilDone, LOCK_WAIT_SHARE, type Transact } from './stock.ts'

/**
 * The transaction holds IMPORT_LOCK, which shows other commits that a lock may be held for long, so that they do not wait for it:
 * see `stockMethods`. It locks each pet that it changes until its end and, from its first change of the catalogue on, the
 * catalogue.
 */
export function importMethods(
  connection: Connection,
  clock: StoreClock,
): Pick<TransferStore, 'changeInOneTransaction'> {
  return {
    changeInOneTransaction: async (work) => {
      const session = await connection.openSeparateSession()
      const transact: Transact = {
        statementTimeoutMs: connection.statementTimeoutMs,
        readThenWrite: (_durability, read, write) =>
          session.withSession(async (sql) => {
            const found = await read(sql)
            await write(sql, found)
            return found
          }),
      }
      try {
        const result = await session.writeInTransaction(async () => {
          const lockTimeoutMs = Math.floor(LOCK_WAIT_SHARE * connection.statementTimeoutMs)
          // The statistics do not know the rows that the transaction has written, so the planner would scan whole tables in each step.
          await session.run(`SET LOCAL lock_timeout = ${lockTimeoutMs}; SET LOCAL enable_seqscan = off`)
          await session.rows('SELECT pg_advisory_xact_lock($1)', IMPORT_LOCK)
          return work(async (commands) => {
            // Later steps lock further barcodes, for which only the lock of the whole catalogue prevents deadlocks.
            if (needsSection(commands, 'catalog')) {
              await session.rows('SELECT pg_advisory_xact_lock($1)', CATALOG_LOCK)
            }
            const { results } = await decideUntilDone(transact, clock, commands)
            return results
          })
        })
        // Until autovacuum comes, the planner would not know the new rows, and `petstore check` would take minutes. The import is
        // done if this fails, for example because the tables belong to another role.
        await session.run('ANALYZE pets, stock, orders, order_lines, log').catch(() => {})
        return result
      } finally {
        await session.close()
      }
    },
  }
}
