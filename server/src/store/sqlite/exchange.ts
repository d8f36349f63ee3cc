import { Database } from 'bun:sqlite'
import type { Store } from '../../core/store.ts'
import type { Connection } from './connection.ts'
import { type DifferingRow, ORDER_PLAN, PET_PLAN } from './import-plan.ts'
import { createPrivateFile } from './private-file.ts'
import { SqliteStagedImport } from './staged-import.ts'
import { HISTORY_END } from './stock-events.ts'

type ExchangeVerbs = Pick<
  Store,
  'stagePets' | 'stageOrders' | 'exportPets' | 'exportOrders' | 'removePet' | 'backupTo'
>

/** Rows read before others get a turn. */
const BATCH = 5_000
const LOWEST_ID = -(2n ** 63n)
const HIGHEST_ID = 2n ** 63n - 1n

export function exchangeVerbs(connection: Connection): ExchangeVerbs {
  const { database } = connection
  const remove = database.query<unknown, [bigint]>('DELETE FROM pets WHERE id = ?')
  const rememberHistory = database.query<unknown, [bigint]>(`
    INSERT OR REPLACE INTO removed_stock
    SELECT pet_id, last_change FROM stock WHERE pet_id = ? AND last_change IS NOT NULL
  `)
  const log = database.query<unknown, [bigint]>(
    `INSERT INTO stock_changes (after_history, kind, pet_id) VALUES (${HISTORY_END}, 'removed', ?)`,
  )

  return {
    stagePets: async () => new SqliteStagedImport(connection, PET_PLAN),
    stageOrders: async () => new SqliteStagedImport(connection, ORDER_PLAN),

    exportPets: () =>
      pages(
        connection,
        'SELECT id, name, category_id, status, quantity FROM pets JOIN stock ON stock.pet_id = pets.id',
        PET_PLAN.toValue,
      ),
    exportOrders: () =>
      pages(connection, 'SELECT id, pet_id, quantity, ship_date, complete FROM orders', ORDER_PLAN.toValue),

    removePet: (petId) =>
      connection.write(() => {
        rememberHistory.run(petId)
        // The stock goes with its pet.
        const isGone = remove.run(petId).changes > 0
        if (isGone) log.run(petId)
        return isGone
      }),

    backupTo: (path) =>
      connection.read(() => {
        createPrivateFile(path, { mustBeNew: true })
        database.run('VACUUM INTO ?', [path])
        const copy = new Database(path, { readonly: true })
        try {
          const found = copy.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()
          if (found?.integrity_check !== 'ok') {
            throw new Error(
              `the copy is damaged: ${found?.integrity_check}; petstore doctor checks the database`,
            )
          }
        } finally {
          copy.close()
        }
      }),
  }
}

/** All rows by id, page by page, of one moment: in one transaction, on a connection of its own. */
async function* pages<Value>(
  main: Connection,
  select: string,
  toValue: (row: DifferingRow, prefix: '') => Value,
): AsyncGenerator<Value[]> {
  const connection = main.another()
  try {
    connection.stopBlocking()
    await connection.read(() => connection.database.run('BEGIN'))
    const page = connection.database.query<DifferingRow & { id: bigint }, [bigint, number]>(
      `${select} WHERE id >= ? ORDER BY id LIMIT ?`,
    )
    for (let from = LOWEST_ID; from <= HIGHEST_ID; ) {
      const rows = await connection.read(() => page.all(from, BATCH))
      const last = rows.at(-1)
      if (last === undefined) return
      yield rows.map((row) => toValue(row, ''))
      from = last.id + 1n
    }
  } finally {
    connection.close()
  }
}
