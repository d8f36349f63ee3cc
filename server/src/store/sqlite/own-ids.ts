import type { Database } from 'bun:sqlite'
import type { OwnIds } from '../sql.ts'

/** Ids for what is made here, inside a commit. */
export function ownIds(database: Database, table: OwnIds) {
  const last = database.query<{ last: bigint }, []>(`SELECT ${table} AS last FROM last_ids`)
  const setLast = database.query<unknown, [bigint]>(`UPDATE last_ids SET ${table} = ?`)
  const taken = database.query<unknown, [bigint, bigint]>(
    `SELECT 1 FROM ${table} WHERE id BETWEEN ? AND ? LIMIT 1`,
  )
  return {
    /** So many that nothing has, from behind the last one. */
    next: (count: number): bigint[] => {
      const ids: bigint[] = []
      if (count === 0) return ids
      const first = (last.get()?.last ?? 0n) + 1n
      // As almost always: only callers and imports that choose ids leave others on the way.
      const areFree = taken.get(first, first + BigInt(count - 1)) === null
      for (let id = first; ids.length < count; id++) {
        if (areFree || taken.get(id, id) === null) ids.push(id)
      }
      return ids
    },
    setLast: (id: bigint): void => void setLast.run(id),
  }
}
