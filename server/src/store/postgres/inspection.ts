import { SECOND } from '../../core/values/clock.ts'
import { CHECKS, latestChangeAt } from '../inspection.ts'
import { inLongSession } from '../sql.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'

/** A session that reads for long must not wait for a locked table without end. */
const LOCK_MS = 5 * SECOND

export function inspectionVerbs(connection: Connection): Pick<Store, 'findDamage' | 'latestChangeAt'> {
  return {
    // PostgreSQL keeps its own pages in order (data checksums, amcheck); what is left is what they say.
    findDamage: () =>
      inLongSession(connection, async (session) => {
        await session.beginRead()
        await session.run(`SET LOCAL lock_timeout = ${LOCK_MS}`)
        const damage: string[] = []
        for (const { text, tell } of CHECKS) {
          const [row] = await session.rows<{ found: bigint }>(text)
          if (row !== undefined && row.found > 0n) damage.push(tell(row.found))
        }
        return damage
      }),

    latestChangeAt: () => latestChangeAt(connection),
  }
}
