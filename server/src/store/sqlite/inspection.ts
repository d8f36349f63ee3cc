import { CHECKS, latestChangeAt } from '../inspection.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'
import { isDamage } from './failures.ts'

const SQLITE_CHECKS = [
  {
    text: 'SELECT count(*) AS found FROM pragma_foreign_key_check',
    tell: (rows: bigint) => `${rows} rows refer to something that is not there`,
  },
  ...CHECKS,
]

export function inspectionVerbs(connection: Connection): Pick<Store, 'findDamage' | 'latestChangeAt'> {
  const { database } = connection
  const integrity = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check(20)')
  const checks = SQLITE_CHECKS.map(({ text, tell }) => {
    const count = database.query<{ found: bigint }, []>(text)
    return () => {
      const found = count.get()?.found ?? 0n
      return found > 0n ? [tell(found)] : []
    }
  })

  return {
    findDamage: () =>
      connection.read(() => {
        const damage = [() => integrity.all().map((row) => row.integrity_check), ...checks].flatMap(found)
        return [...new Set(damage)].filter((line) => line !== 'ok')
      }),

    latestChangeAt: () => latestChangeAt(connection),
  }
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
