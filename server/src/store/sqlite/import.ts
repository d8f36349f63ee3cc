import type { TransferStore } from '../../core/transfer/transfer-store.ts'
import type { Clock } from '../../core/values/clock.ts'
import type { Connection } from './connection.ts'
import { commandDecider } from './stock.ts'

/** Large enough that SQLite writes most pages only once. */
const CACHE_KIBIBYTES = 32_768
/** So few pages are left for the commit that its flush, on the event loop, is short. */
const STEPS_PER_FLUSH = 20

/**
 * The steps run on a connection of their own, which holds the only write lock of the file. The main thread gets a turn after
 * each step, so that it answers reads and refuses writes in time.
 */
export function importMethods(
  connection: Connection,
  clock: Clock,
): Pick<TransferStore, 'changeInOneTransaction'> {
  return {
    changeInOneTransaction: async (work) => {
      const session = await connection.openLongSession()
      try {
        await session.run(`PRAGMA cache_size = -${CACHE_KIBIBYTES}`)
        // A checkpoint of a large commit would block the event loop, so it is not part of the commit.
        await session.run('PRAGMA wal_autocheckpoint = 0')
        const decideAndWrite = commandDecider(session, clock)
        let stepCount = 0
        let hasErasures = false
        const result = await session.writeInTransaction(() =>
          work(async (commands) => {
            for (;;) {
              const firstLogId = session.logEnd().position + 1n
              const attempt = decideAndWrite(commands, firstLogId)
              if (attempt.type === 'expired_holds') decideAndWrite([attempt.release], firstLogId)
              if (++stepCount % STEPS_PER_FLUSH === 0) await session.flushWritten()
              await new Promise((resume) => setImmediate(resume))
              if (attempt.type !== 'decided') continue
              hasErasures ||= attempt.decision.orders?.hasErasures === true
              return attempt.decision.results
            }
          }),
        )
        await session.shrinkLog()
        if (hasErasures) connection.noteErasure()
        return result
      } finally {
        await session.close()
      }
    },
  }
}
