import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'

type InspectionVerbs = Pick<Store, 'findDamage' | 'latestChangeAt'>

interface Counts {
  unstocked: bigint
  disagreeing: bigint
  unkeyed: bigint
}

export function inspectionVerbs(connection: Connection): InspectionVerbs {
  return {
    // PostgreSQL keeps its own pages in order (data checksums, amcheck); what is left is what they say.
    findDamage: () =>
      connection.longTransaction('read', async (sql) => {
        const [found] = await sql<Counts[]>`
          SELECT
            (SELECT count(*) FROM pets WHERE NOT EXISTS (SELECT 1 FROM stock WHERE pet_id = pets.id)) AS unstocked,
            (SELECT count(*) FROM stock JOIN log ON log.id = last_change
              WHERE log.after <> stock.quantity OR log.pet_id <> stock.pet_id) AS disagreeing,
            (SELECT count(*) FROM keys WHERE NOT EXISTS (SELECT 1 FROM key_secrets WHERE key_id = keys.id)) AS unkeyed`
        const damage: string[] = []
        const tell = (count: bigint | undefined, text: (count: bigint) => string) => {
          if (count !== undefined && count > 0n) damage.push(text(count))
        }
        tell(found?.unstocked, (pets) => `${pets} pets have no stock entry`)
        tell(found?.disagreeing, (pets) => `the stock of ${pets} pets is not what their history says`)
        tell(found?.unkeyed, (keys) => `${keys} keys have no secret`)
        return damage
      }),

    latestChangeAt: async () => {
      const [row] = await connection.run(
        (sql) => sql<{ at: bigint | null }[]>`
          SELECT greatest((SELECT at FROM log ORDER BY id DESC LIMIT 1), (SELECT max(at) FROM audit)) AS at`,
      )
      return row === undefined || row.at === null ? undefined : Number(row.at)
    },
  }
}
