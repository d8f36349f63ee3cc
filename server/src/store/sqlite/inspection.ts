import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'
import { isDamage } from './failures.ts'

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
    SELECT count(*) AS pets FROM stock JOIN log ON log.id = last_change
    WHERE log.after <> stock.quantity OR log.pet_id <> stock.pet_id
  `)
  const latest = database.query<{ at: bigint | null }, []>(`
    SELECT max(at) AS at FROM
      (SELECT at FROM log WHERE id = (SELECT max(id) FROM log) UNION ALL SELECT max(at) FROM audit)
  `)

  return {
    findDamage: () =>
      connection.read(() => {
        const damage = [
          ...found(() => integrity.all().map((row) => row.integrity_check)),
          ...found(() =>
            tell(orphans.all().length, (rows) => `${rows} rows refer to something that is not there`),
          ),
          ...found(() => tell(unstocked.get()?.pets, (pets) => `${pets} pets have no stock entry`)),
          ...found(() =>
            tell(
              disagreeing.get()?.pets,
              (pets) => `the stock of ${pets} pets is not what their history says`,
            ),
          ),
        ]
        return [...new Set(damage)].filter((line) => line !== 'ok')
      }),

    latestChangeAt: () =>
      connection.read(() => {
        const at = latest.get()?.at ?? null
        return at === null ? undefined : Number(at)
      }),
  }
}

function tell(count: number | bigint | undefined, text: (count: number | bigint) => string): string[] {
  return count === undefined || count <= 0 ? [] : [text(count)]
}

/** What a check finds. One that stumbles over damage has found it, and the others go on. */
function found(check: () => string[]): string[] {
  try {
    return check()
  } catch (error) {
    if (isDamage(error)) return ['a part of the database cannot be read: it is damaged']
    throw error
  }
}
