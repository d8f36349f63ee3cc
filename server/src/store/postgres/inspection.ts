import { checksOf, latestChangeAt } from '../inspection.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'

const CHECKS = checksOf(`
  SELECT count(*) AS found FROM stock JOIN LATERAL
    (SELECT after FROM history WHERE pet_id = stock.pet_id ORDER BY id DESC LIMIT 1) AS latest
    ON latest.after <> stock.quantity`)

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
