import { CHECKS, latestChangeAt } from '../inspection.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'

export function inspectionVerbs(connection: Connection): Pick<Store, 'findDamage' | 'latestChangeAt'> {
  return {
    // PostgreSQL keeps its own pages in order (data checksums, amcheck); what is left is what they say.
    findDamage: () =>
      connection.longTransaction('read', async (session) => {
        const damage: string[] = []
        for (const { text, tell } of CHECKS) {
          const [row] = await session.unsafe<{ found: bigint }[]>(text)
          if (row !== undefined && row.found > 0n) damage.push(tell(row.found))
        }
        return damage
      }),

    latestChangeAt: () => latestChangeAt(connection),
  }
}
