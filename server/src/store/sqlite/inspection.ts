import type { Store } from '../../core/store.ts'
import type { Connection } from './connection.ts'

type InspectionVerbs = Pick<Store, 'findDamage' | 'latestChangeAt'>

export function inspectionVerbs(connection: Connection): InspectionVerbs {
  const { database } = connection
  const integrity = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check(20)')
  const orphans = database.query<{ table: string }, []>('SELECT "table" FROM pragma_foreign_key_check')
  // A pet without stock, or a quantity that is not what the history says last, was not written by us.
  const unstocked = database.query<{ pets: bigint }, []>(
    'SELECT count(*) AS pets FROM pets WHERE NOT EXISTS (SELECT 1 FROM stock WHERE pet_id = pets.id)',
  )
  const disagreeing = database.query<{ pets: bigint }, []>(`
    SELECT count(*) AS pets FROM stock JOIN history ON history.id = last_change
    WHERE history.after <> stock.quantity OR history.pet_id <> stock.pet_id
  `)
  const latest = database.query<{ at: bigint | null }, []>(`
    SELECT max(at) AS at FROM
      (SELECT at FROM history WHERE id = (SELECT max(id) FROM history) UNION ALL SELECT max(at) FROM audit)
  `)

  return {
    findDamage: () =>
      connection.read(() => {
        const damage = integrity
          .all()
          .map((row) => row.integrity_check)
          .filter((line) => line !== 'ok')
        const lost = orphans.all().length
        if (lost > 0) damage.push(`${lost} rows refer to something that is not there`)
        const bare = Number(unstocked.get()?.pets ?? 0)
        if (bare > 0) damage.push(`${bare} pets have no stock entry`)
        const wrong = Number(disagreeing.get()?.pets ?? 0)
        if (wrong > 0) damage.push(`the stock of ${wrong} pets is not what their history says`)
        return damage
      }),

    latestChangeAt: () =>
      connection.read(() => {
        const at = latest.get()?.at ?? null
        return at === null ? undefined : Number(at)
      }),
  }
}
