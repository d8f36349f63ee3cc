import { Database } from 'bun:sqlite'
import type { Store } from '../store.ts'
import { inBatches } from './batches.ts'
import type { Connection } from './connection.ts'
import { type DifferingRow, ORDER_PLAN, PET_PLAN } from './import-plan.ts'
import { HISTORY_END } from './log-end.ts'
import { createPrivateFile } from './private-file.ts'
import { settle } from './settle.ts'
import { SqliteStagedImport } from './staged-import.ts'

type ExchangeVerbs = Pick<
  Store,
  'stagePets' | 'stageOrders' | 'exportPets' | 'exportOrders' | 'removePet' | 'backupTo'
>

export function exchangeVerbs(connection: Connection): ExchangeVerbs {
  const { database } = connection
  const remove = database.query<unknown, [bigint]>('DELETE FROM pets WHERE id = ?')
  const rememberHistory = database.query<unknown, [bigint]>(`
    INSERT OR REPLACE INTO removed_stock
    SELECT pet_id, last_change FROM settled_stock WHERE pet_id = ? AND last_change IS NOT NULL
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
        settle(database)
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
    const rows = connection.database.query<DifferingRow, []>(`${select} ORDER BY id`).iterate()
    yield* inBatches(connection, rows, (row) => toValue(row, ''))
  } finally {
    connection.close()
  }
}
